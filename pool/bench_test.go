package pool

import (
	"hash/crc32"
	"testing"
)

// A task is a page: 64 KiB to look at, the least that encoders do with one.
var page = make([]byte, 64<<10)

// BenchmarkTask compares a task to the plain loop: "plain" and "serial" must be within 5 % of each other, and "starved" is what an owner pays that
// nobody helps.
func BenchmarkTask(b *testing.B) {
	work := func() error {
		if crc32.ChecksumIEEE(page) == 1 {
			return errClosed
		}
		return nil
	}
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			if work() != nil {
				b.Fatal()
			}
		}
	})
	bench := func(f *Flight) func(b *testing.B) {
		return func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				if f.Go(0, 0, work).Wait() != nil {
					b.Fatal()
				}
			}
		}
	}
	b.Run("nil", bench(nil))
	b.Run("serial", bench(New(2).Flight(b.Context(), 1)))
	b.Run("starved", bench(New(2).Flight(b.Context(), 0)))
	b.Run("helped", bench(running(b, 2).Flight(b.Context(), 0)))
}

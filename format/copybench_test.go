package format

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tailrace"
	"tailrace/internal/bench/shape"
)

// shapeCSV is rows of a shape, and the types of its columns.
func shapeCSV(b testing.TB, name string, rows int) ([]byte, []tailrace.Type) {
	s, err := shape.Named(name)
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.WriteCSV(&out, rows); err != nil {
		b.Fatal(err)
	}
	var types []tailrace.Type
	for _, f := range s.Schema.Fields {
		types = append(types, f.Type)
	}
	return out.Bytes(), types
}

// perCPU reports MB/s of CPU time beside those of the clock: other work on the machine does not count.
func perCPU(b *testing.B, bytes int) func() {
	runtime.LockOSThread()
	used := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() {
		b.ReportMetric(float64(bytes)*float64(b.N)/1e6/(used()-before).Seconds(), "MB/cpu-s")
		runtime.UnlockOSThread()
	}
}

// BenchmarkCopyParse parses morsels that are cut already.
func BenchmarkCopyParse(b *testing.B) {
	for _, name := range shape.Names()[:4] {
		b.Run(name, func(b *testing.B) {
			data, types := shapeCSV(b, name, 3*MorselRows)
			o := CopyOptions{Layout: CopyCSV}
			s := NewCopySplitter(o, types)
			var morsels []*Morsel
			for rest := data; ; {
				m, err := s.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				if m != nil {
					morsels = append(morsels, m)
				} else if len(rest) == 0 {
					s.Finish()
				} else {
					n := copy(s.Room(), rest)
					s.Fill(n)
					rest = rest[n:]
				}
			}
			p := NewCopyParser(o, types, nil)
			into := make([]*tailrace.Batch, len(morsels))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			defer perCPU(b, len(data))()
			for b.Loop() {
				for i, m := range morsels {
					var err error
					if into[i], err = p.Parse(m, into[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkCopySplit cuts alone; the copy into Room is part of it.
func BenchmarkCopySplit(b *testing.B) {
	for _, name := range shape.Names()[:4] {
		b.Run(name, func(b *testing.B) {
			data, types := shapeCSV(b, name, 3*MorselRows)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			defer perCPU(b, len(data))()
			for b.Loop() {
				s := NewCopySplitter(CopyOptions{Layout: CopyCSV}, types)
				for rest := data; ; {
					m, err := s.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					if m != nil {
						m.Release()
					} else if len(rest) == 0 {
						s.Finish()
					} else {
						n := copy(s.Room(), rest[:min(len(rest), 64<<10)])
						s.Fill(n)
						rest = rest[n:]
					}
				}
				s.Close()
			}
		})
	}
}

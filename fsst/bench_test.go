package fsst

import (
	"math/rand/v2"
	"testing"
)

func benchmarkTexts(b *testing.B, run func(b *testing.B, all []byte, e *Encoder, coded []byte)) {
	for i, spec := range texts {
		b.Run(spec.name, func(b *testing.B) {
			all, each := column(i, 8192)
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(each), func(i, j int) { each[i], each[j] = each[j], each[i] })
			e := Train(each[:1024], nil, 0)
			coded := e.AppendEncoded(nil, all)
			b.SetBytes(int64(len(all)))
			b.ReportAllocs()
			run(b, all, e, coded)
			b.ReportMetric(float64(len(coded))/float64(len(all)), "coded/raw")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	benchmarkTexts(b, func(b *testing.B, all []byte, e *Encoder, coded []byte) {
		for b.Loop() {
			coded = e.AppendEncoded(coded[:0], all)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmarkTexts(b, func(b *testing.B, all []byte, e *Encoder, coded []byte) {
		room := make([]byte, 0, len(all)+slack)
		for b.Loop() {
			if _, err := e.Table().AppendDecoded(room, coded, len(all)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTrain(b *testing.B) {
	_, each := column(0, 1024)
	for b.Loop() {
		Train(each, nil, 0)
	}
}

// BenchmarkWords trains on and codes sentences over a vocabulary that symbols do not hold.
func BenchmarkWords(b *testing.B) {
	all, each := manyWords(60_000)
	more := [][]byte{all[:len(all)/4]}
	e := Train(each[:300], more, 256)
	var coded []byte
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(all)))
		b.ReportAllocs()
		for b.Loop() {
			coded = e.AppendEncoded(coded[:0], all)
		}
		b.ReportMetric(float64(len(coded))/float64(len(all)), "coded/raw")
	})
	b.Run("train", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Train(each[:300], more, 256)
		}
	})
}

package query

import (
	"bytes"
	"math"
	"unicode/utf8"
)

const maxText = 1 << 30 // bytes, PostgreSQL's limit of a value

// mapBytes changes each byte. Letters have case within ASCII only, as in PostgreSQL's locale C.
func mapBytes(f func(byte) byte) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		for _, c := range a[0] {
			d = append(d, f(c))
		}
		return d, nil
	}
}

func upperByte(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

func initcap(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	inWord := false
	for _, c := range a[0] {
		if inWord {
			c = lowerByte(c)
		} else {
			c = upperByte(c)
		}
		d = append(d, c)
		inWord = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	return d, nil
}

func runeCount(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	return put32(d, int32(utf8.RuneCount(a[0]))), nil
}

func byteCount(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	return put32(d, int32(len(a[0]))), nil
}

// runeOffset is where character n (from 0) of b begins.
func runeOffset(b []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(b); n-- {
		_, w := utf8.DecodeRune(b[at:])
		at += w
	}
	return at
}

// substringWindow is the part [from, to) that substring's arguments mean in a value of n units.
func substringWindow(a [][]byte, n int) (from, to int, err error) {
	start := int64(i32(a[1])) - 1
	end := int64(n)
	if len(a) == 3 {
		if i32(a[2]) < 0 {
			return 0, 0, raise("22011", "negative substring length not allowed")
		}
		end = min(end, start+int64(i32(a[2])))
	}
	start = min(max(start, 0), int64(n))
	return int(start), int(max(end, start)), nil
}

func substring(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	from, to, err := substringWindow(a, utf8.RuneCount(a[0]))
	if err != nil {
		return nil, err
	}
	rest := a[0][runeOffset(a[0], from):]
	return append(d, rest[:runeOffset(rest, to-from)]...), nil
}

func substringBytes(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	from, to, err := substringWindow(a, len(a[0]))
	if err != nil {
		return nil, err
	}
	return append(d, a[0][from:to]...), nil
}

// overlay puts text over a part of another: overlay(a[0] placing a[1] from a[2] for a[3]).
func overlay(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	from := int64(i32(a[2]))
	n := int64(utf8.RuneCount(a[1]))
	if len(a) == 4 {
		n = int64(i32(a[3]))
	}
	if from <= 0 {
		return nil, raise("22011", "negative substring length not allowed")
	}
	if from+n > math.MaxInt32 {
		return nil, outOfRange("integer")
	}
	d = append(d, a[0][:runeOffset(a[0], int(from-1))]...)
	d = append(d, a[1]...)
	return append(d, a[0][runeOffset(a[0], int(max(from+n-1, 0))):]...), nil
}

func pad(front bool) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n, fill := max(0, int(i32(a[1]))), []byte(" ")
		if len(a) == 3 {
			fill = a[2]
		}
		if n > maxText/4 {
			return nil, raise("54000", "requested length too large")
		}
		have := utf8.RuneCount(a[0])
		if have >= n || len(fill) == 0 {
			return append(d, a[0][:runeOffset(a[0], n)]...), nil
		}
		if !front {
			d = append(d, a[0]...)
		}
		for need, at := n-have, 0; need > 0; need-- {
			_, w := utf8.DecodeRune(fill[at:])
			d = append(d, fill[at:at+w]...)
			if at += w; at == len(fill) {
				at = 0
			}
		}
		if front {
			d = append(d, a[0]...)
		}
		return d, nil
	}
}

func trim(left, right bool) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		cut := " "
		if len(a) == 2 {
			cut = string(a[1])
		}
		b := a[0]
		if left {
			b = bytes.TrimLeft(b, cut)
		}
		if right {
			b = bytes.TrimRight(b, cut)
		}
		return append(d, b...), nil
	}
}

func translateText(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	from, to := []rune(string(a[1])), []rune(string(a[2]))
	for _, r := range string(a[0]) {
		at := -1
		for i, f := range from {
			if f == r {
				at = i
				break
			}
		}
		switch {
		case at < 0:
			d = utf8.AppendRune(d, r)
		case at < len(to):
			d = utf8.AppendRune(d, to[at])
		}
	}
	return d, nil
}

func position(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	at := bytes.Index(a[0], a[1])
	if at >= 0 {
		at = utf8.RuneCount(a[0][:at])
	}
	return put32(d, int32(at+1)), nil
}

func splitPart(_ *frame, d []byte, a [][]byte) ([]byte, error) {
	n := int(i32(a[2]))
	if n == 0 {
		return nil, raise(codeInvalid, "field position must not be zero")
	}
	parts := [][]byte{a[0]}
	if len(a[0]) == 0 {
		return d, nil
	}
	if len(a[1]) > 0 {
		parts = bytes.Split(a[0], a[1])
	}
	if n < 0 {
		n += len(parts) + 1
	}
	if n < 1 || n > len(parts) {
		return d, nil
	}
	return append(d, parts[n-1]...), nil
}

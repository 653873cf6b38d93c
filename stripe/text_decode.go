package stripe

import (
	"slices"
)

// slack is how far beyond a text copyText may write. Buffers it writes to and reads from have that much room behind.
const slack = 16

// decodeTexts adds the values of s to the column under way: their lengths to sizes, which has room for s.count, and their bytes, which must be
// want in sum, to data.
func (d *decoder) decodeTexts(sizes []int32, data []byte, s stream, want int) ([]byte, error) {
	if s.count != len(sizes) {
		return nil, corrupt("stream of %d values where %d belong", s.count, len(sizes))
	}
	switch s.enc {
	case encConst:
		if len(s.body)*len(sizes) != want {
			return nil, corrupt("%d values of %d bytes where %d bytes belong", len(sizes), len(s.body), want)
		}
		fill(sizes, int32(len(s.body)))
		data = slices.Grow(data, want+slack)
		for range sizes {
			data = append(data, s.body...)
		}
		return data, nil
	case encStr:
		body, err := decodeSizes(sizes, s)
		if err != nil {
			return nil, err
		}
		if len(body) != want {
			return nil, corrupt("texts of %d bytes where %d belong", len(body), want)
		}
		return append(slices.Grow(data, want+slack), body...), nil
	case encDict:
		return d.decodeTextDict(sizes, data, s.body, want)
	}
	return nil, corrupt("encoding %d of texts", s.enc)
}

// decodeSizes reads the lengths of an STR stream and returns the bytes, which are exactly as many as the lengths say.
func decodeSizes(sizes []int32, s stream) ([]byte, error) {
	lengths, body, err := cutStream(s.body)
	if err != nil {
		return nil, err
	}
	if err := decodeLeaf(sizes, lengths); err != nil {
		return nil, err
	}
	sum, negative := int64(0), int32(0)
	for _, n := range sizes {
		sum += int64(n)
		negative |= n
	}
	if negative < 0 || sum != int64(len(body)) {
		return nil, corrupt("text lengths that sum to %d of %d bytes", sum, len(body))
	}
	return body, nil
}

// decodeTextDict copies each value from the dictionary.
func (d *decoder) decodeTextDict(sizes []int32, data, body []byte, want int) ([]byte, error) {
	values, rest, err := cutStream(body)
	if err != nil {
		return nil, err
	}
	if values.enc != encStr || values.count == 0 || values.count > maxDict || values.count > len(sizes) {
		return nil, corrupt("dictionary of %d texts, encoding %d", values.count, values.enc)
	}
	length := d.sizes[:values.count]
	words, err := decodeSizes(length, values)
	if err != nil {
		return nil, err
	}
	start := d.starts[:values.count]
	at, longest := int32(0), int32(0)
	for i, n := range length {
		start[i] = at
		at += n
		longest = max(longest, n)
	}
	codes, err := d.readCodes(rest, len(sizes), values.count)
	if err != nil {
		return nil, err
	}
	sum := 0
	for i, c := range codes {
		sizes[i] = length[c]
		sum += int(length[c])
	}
	if sum != want {
		return nil, corrupt("texts of %d bytes where %d belong", sum, want)
	}
	data = slices.Grow(data, want+slack)
	if longest > slack {
		for _, c := range codes {
			data = append(data, words[start[c]:start[c]+length[c]]...)
		}
		return data, nil
	}
	d.words = append(append(d.words[:0], words...), make([]byte, slack)...)
	return copyShort(data, d.words, start, length, codes), nil
}

// copyShort adds the words that codes name, each at most slack bytes, by copying slack bytes and moving on by the word's length. data has
// room for all and slack more.
func copyShort(data, words []byte, start, length []int32, codes []uint16) []byte {
	at, room := len(data), data[:cap(data)]
	for _, c := range codes {
		*(*[slack]byte)(room[at:]) = *(*[slack]byte)(words[start[c]:])
		at += int(length[c])
	}
	return room[:at]
}

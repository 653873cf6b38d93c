package stripe

import "unsafe"

// Values that are not NULL are stored one after another. spread and spreadEnds move them apart, to the rows whose bit is set in the null bitmap: from the last row
// down, so that no value is overwritten before it has moved, and no further than to the row where n values are left for n rows. Eight rows at a time
// have their bits in a register, and no branch is on them: it would be foretold wrongly at every other NULL.

// spread moves the first n values of v to the rows whose bit is set, of which there are n, and zeroes the others: squeeze undone.
func spread[T integer](v []T, n int, bitmap []byte) {
	i := len(v)
	for ; i&7 != 0; i-- {
		bit := int(bitmap[i>>3] >> ((i - 1) & 7) & 1)
		n -= bit
		v[i-1] = v[n] & -T(bit)
	}
	at, w := unsafe.Pointer(unsafe.SliceData(v)), unsafe.Sizeof(T(0))
	for ; i > n; i -= 8 {
		b, to := int(bitmap[i>>3-1]), unsafe.Add(at, (i-8)*int(w))
		n -= b >> 7
		*(*T)(unsafe.Add(to, 7*w)) = valueAt[T](at, n) & -T(b>>7)
		n -= b >> 6 & 1
		*(*T)(unsafe.Add(to, 6*w)) = valueAt[T](at, n) & -T(b>>6&1)
		n -= b >> 5 & 1
		*(*T)(unsafe.Add(to, 5*w)) = valueAt[T](at, n) & -T(b>>5&1)
		n -= b >> 4 & 1
		*(*T)(unsafe.Add(to, 4*w)) = valueAt[T](at, n) & -T(b>>4&1)
		n -= b >> 3 & 1
		*(*T)(unsafe.Add(to, 3*w)) = valueAt[T](at, n) & -T(b>>3&1)
		n -= b >> 2 & 1
		*(*T)(unsafe.Add(to, 2*w)) = valueAt[T](at, n) & -T(b>>2&1)
		n -= b >> 1 & 1
		*(*T)(unsafe.Add(to, w)) = valueAt[T](at, n) & -T(b>>1&1)
		n -= b & 1
		*(*T)(to) = valueAt[T](at, n) & -T(b&1)
	}
}

// spreadEnds moves the ends of n texts, which begin at v[0] and end at v[1] to v[n], to the rows whose bit is set, of which there are n; the others are empty.
func spreadEnds(v []int32, n int, bitmap []byte) {
	i := len(v) - 1
	for ; i&7 != 0; i-- {
		v[i] = v[n]
		n -= int(bitmap[i>>3] >> ((i - 1) & 7) & 1)
	}
	at := unsafe.Pointer(unsafe.SliceData(v))
	for ; i > n; i -= 8 {
		b, to := int(bitmap[i>>3-1]), (*[8]int32)(unsafe.Add(at, (i-7)*4))
		to[7] = valueAt[int32](at, n)
		n -= b >> 7
		to[6] = valueAt[int32](at, n)
		n -= b >> 6 & 1
		to[5] = valueAt[int32](at, n)
		n -= b >> 5 & 1
		to[4] = valueAt[int32](at, n)
		n -= b >> 4 & 1
		to[3] = valueAt[int32](at, n)
		n -= b >> 3 & 1
		to[2] = valueAt[int32](at, n)
		n -= b >> 2 & 1
		to[1] = valueAt[int32](at, n)
		n -= b >> 1 & 1
		to[0] = valueAt[int32](at, n)
		n -= b & 1
	}
}

// valueAt is value n of those at v.
func valueAt[T integer](v unsafe.Pointer, n int) T {
	return *(*T)(unsafe.Add(v, n*int(unsafe.Sizeof(T(0)))))
}

package format

import (
	"math/bits"
	"unsafe"
)

// Eight bytes of text as a number of 64 bits, the first in the lowest place: what follows works on all of them at once.
const (
	allZeros  = 0x3030303030303030 // eight times '0'
	allOnes   = 0x0101010101010101
	highBits  = 0x8080808080808080
	overNines = 0x7676767676767676 // added to a byte sets its high bit if it is above 9
)

// load64 is eight bytes from byte i of a buffer, and byteAt one: without a check, since every place that a loop comes to has slack behind it. Whatever the input is, a loop
// goes on from a row's beginning by at most maxStep bytes that it did not compare with the end of the row.
func load64(buffer unsafe.Pointer, i int) uint64 { return *(*uint64)(unsafe.Add(buffer, i)) }

func byteAt(buffer unsafe.Pointer, i int) byte { return *(*byte)(unsafe.Add(buffer, i)) }

// digitsOf is text with the value of each digit in place of it, and how many digits it begins with: 0 to 8.
func digitsOf(text uint64) (digits uint64, n int) {
	digits = text ^ allZeros
	other := (digits + overNines | digits) & highBits // exact up to the first byte that is no digit
	return digits, bits.TrailingZeros64(other) >> 3
}

// number is the number that the first n of digits spell; n is 1 to 8.
func number(digits uint64, n int) uint64 {
	digits <<= 64 - 8*n // leading zeros
	digits = digits*10 + digits>>8
	digits = (digits&0x00ff00ff00ff00ff)*100 + digits>>16&0x00ff00ff00ff00ff
	digits = (digits&0x0000ffff0000ffff)*10_000 + digits>>32&0x0000ffff0000ffff
	return digits & 0xffffffff
}

// longNumber is the number that begins at byte i of data, and how many digits it has; 0 when they are more than 19, which 64 bits may not hold.
func longNumber(data unsafe.Pointer, i int) (v uint64, n int) {
	for {
		digits, d := digitsOf(load64(data, i+n))
		if d == 0 {
			return v, n
		}
		if n += d; n > maxDigits64+1 {
			return 0, 0
		}
		v = v*pow10[d] + number(digits, d)
		if d < 8 {
			return v, n
		}
	}
}

// pow10 are the powers of ten that an int64 holds.
var pow10 = [...]uint64{
	1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000,
	100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000,
}

// same marks, with their high bits, the bytes of text that are those of pattern: eight times one byte. It is exact up to the first.
func same(text, pattern uint64) uint64 {
	x := text ^ pattern
	return (x - allOnes) &^ x & highBits
}

package format

import (
	"time"
	"unsafe"

	"tailrace"
)

// The shape of a date and of a time as eight bytes: its bytes with digits become their values, the others 0.
const (
	dateShape = 0x2d30302d30303030 // 0000-00-
	timeShape = 0x30303a30303a3030 // 00:00:00
	// Added to a byte these set its high bit when a digit is above 9 and when one of the others is not 0.
	badDateByte = 0x7f76767f76767676
	badTimeByte = 0x76767f76767f7676
)

// daysBefore are the days of a year before each month, from 1 on; those of a leap year come 16 later.
var daysBefore = [...]int16{
	0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365, 0, 0,
	0, 0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366, 0, 0,
}

// dateAt reads yyyy-mm-dd at byte i of text: days since 2000-01-01.
func dateAt(text unsafe.Pointer, i int) (days int64, ok bool) {
	word := load64(text, i) ^ dateShape
	d1, d2 := uint(byteAt(text, i+8)-'0'), uint(byteAt(text, i+9)-'0')
	if (word+badDateByte|word)&highBits != 0 || d1 > 9 || d2 > 9 {
		return 0, false
	}
	pairs := word*10 + word>>8
	year := int64(pairs&0xff)*100 + int64(pairs>>16&0xff)
	month, day := uint(pairs>>40&0xff), int64(d1*10+d2)
	if year < 1 || month-1 > 11 {
		return 0, false
	}
	leap := uint(0)
	if year&3 == 0 && (year%100 != 0 || year%400 == 0) {
		leap = 16
	}
	before := int64(daysBefore[leap+month])
	if day < 1 || before+day > int64(daysBefore[leap+month+1]) {
		return 0, false
	}
	past := year - 1
	return past*365 + past/4 - past/100 + past/400 + before + day - 1 - daysTo2000, true
}

// daysTo2000 are the days from 0001-01-01 to 2000-01-01.
const daysTo2000 = 730_119

// dateLoop reads yyyy-mm-dd.
func dateLoop(b *block, k int) {
	out := values[int32](b, k)
	text, end, at := b.text, b.end(k), b.at[:len(out)]
	for r := range out {
		i := int(at[r])
		e := i + 10
		if days, ok := dateAt(text, i); ok && byteAt(text, e) == end {
			out[r], at[r] = int32(days), int32(e+1)
		} else if !b.leave(k, r) {
			return
		}
	}
}

// timestampLoop reads yyyy-mm-dd hh:mm:ss with perhaps a point and up to six digits, and for a timestamp with time zone perhaps +hh or +hh:mm.
func timestampLoop(b *block, k int) {
	t := b.types[k]
	zoned := t.Kind == tailrace.KindTimestamptz
	utc := !zoned || b.s.location() == time.UTC
	out := values[int64](b, k)
	text, end, at := b.text, b.end(k), b.at[:len(out)]
	for r := range out {
		micros, e, ok := timestampAt(text, int(at[r]))
		east := 0
		if ok && zoned {
			switch c := byteAt(text, e); {
			case c == '+' || c == '-':
				east, e, ok = zoneAt(text, e)
			default:
				ok = utc
			}
		}
		if !ok || byteAt(text, e) != end {
			if !b.leave(k, r) {
				return
			}
			continue
		}
		micros -= int64(east) * microsPerSecond
		if t.Mod >= 0 {
			micros = roundMicros(micros, t.Mod)
		}
		out[r], at[r] = micros, int32(e+1)
	}
}

// timestampAt reads a timestamp without a zone from byte i of text to e.
func timestampAt(text unsafe.Pointer, i int) (micros int64, e int, ok bool) {
	days, ok := dateAt(text, i)
	clock := load64(text, i+11) ^ timeShape
	if sep := byteAt(text, i+10); !ok || sep != ' ' && sep != 'T' || (clock+badTimeByte|clock)&highBits != 0 {
		return 0, i, false
	}
	pairs := clock*10 + clock>>8
	hour, minute, second := int64(pairs&0xff), int64(pairs>>24&0xff), int64(pairs>>48&0xff)
	if hour > 23 || minute > 59 || second > 59 {
		return 0, i, false
	}
	micros = (days*86_400 + hour*3600 + minute*60 + second) * microsPerSecond
	e = i + 19
	if byteAt(text, e) != '.' {
		return micros, e, true
	}
	digits, n := digitsOf(load64(text, e+1))
	if uint(n-1) > 5 {
		return 0, i, false
	}
	return micros + int64(number(digits, n)*pow10[6-n]), e + 1 + n, true
}

// zoneAt reads +hh or +hh:mm from byte i of text to e: seconds east of Greenwich.
func zoneAt(text unsafe.Pointer, i int) (east, e int, ok bool) {
	pair := func(i int) int {
		a, b := int(byteAt(text, i)-'0'), int(byteAt(text, i+1)-'0')
		if a > 9 || b > 9 {
			return 100
		}
		return 10*a + b
	}
	hours, minutes := pair(i+1), 0
	if e = i + 3; byteAt(text, e) == ':' {
		minutes = pair(e + 1)
		e += 3
	}
	if hours > 15 || minutes > 59 {
		return 0, i, false
	}
	if east = hours*3600 + minutes*60; byteAt(text, i) == '-' {
		east = -east
	}
	return east, e, true
}

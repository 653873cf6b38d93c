package query

import (
	"fmt"
	"strconv"
	"strings"
)

// numPrinter walks a picture and writes the digits of a number into it: PostgreSQL's NUM_processor, with its rules one by one, because what
// they do together is what users see.
type numPrinter struct {
	*numPicture
	dst    []byte
	number string // digits and point; or hashes
	at     int    // in number
	spaces int    // places before the first digit
	sign   byte
	signed bool // the sign is written, or needs not be
	place  int  // places of digits and points walked over
	count  int
	inside bool // a digit has been written at the last place
	err    error
	ended  bool // a place behind the number's end was reached
	last   int  // FM: the last digit behind the point that is not zero, -1 when all are to be written
}

// print writes number into the picture.
func (p *numPicture) print(dst []byte, number string, spaces int, sign byte) ([]byte, error) {
	picture := *p
	w := &numPrinter{numPicture: &picture, dst: dst, number: number, spaces: spaces, sign: sign, last: -1}
	if picture.zeroFrom > 0 {
		picture.zeroFrom--
	}
	if picture.roman {
		picture = numPicture{parts: p.parts, fill: p.fill, roman: true}
	}
	if picture.plus || picture.minus {
		w.signed = !picture.plus || picture.minus
	} else {
		if sign != '-' && picture.fill {
			picture.bracket = false
		}
		w.signed = sign == '+' && picture.fill && !picture.s
		if picture.sign == signBefore && picture.pre == picture.beforeSign {
			picture.sign = signBehind
		}
	}
	w.count = picture.post + picture.pre - 1
	if picture.fill && picture.decimal {
		w.relevant()
	}
	if !w.signed && spaces == 0 {
		w.count++
	}
	for _, part := range picture.parts {
		// A place behind the number's end and the sign of a Roman number are zero bytes in PostgreSQL, which end the text.
		if w.ended || picture.roman && part.key == "SG" {
			break
		}
		w.part(part)
	}
	return w.dst, w.err
}

// relevant finds the last digit that FM keeps.
func (w *numPrinter) relevant() {
	point := strings.IndexByte(w.number, '.')
	if point < 0 {
		return
	}
	w.last = point
	for i := point + 1; i < len(w.number); i++ {
		if w.number[i] != '0' {
			w.last = i
		}
	}
	if w.zeroTo > w.spaces {
		w.last = max(w.last, min(len(w.number)-1, w.zeroTo-w.spaces))
	}
}

func (w *numPrinter) put(s string) { w.dst = append(w.dst, s...) }

// unlessFill writes s, or nothing in a format with FM.
func (w *numPrinter) unlessFill(s string) {
	if !w.fill {
		w.put(s)
	}
}

func (w *numPrinter) part(part numPart) {
	switch part.key {
	case "":
		w.put(part.text)
	case "9", "0", ".", "D":
		w.digit(part.key)
	case ",", "G":
		if w.inside {
			w.put(",")
		} else {
			w.unlessFill(" ")
		}
	case "L":
		w.put(" ")
	case "RN", "rn":
		text := w.number
		if part.key == "rn" {
			text = strings.ToLower(text)
		}
		if !w.fill {
			text = fmt.Sprintf("%15s", text)
		}
		w.put(text)
	case "TH", "th":
		if !w.roman && !strings.HasPrefix(w.number, "#") && w.sign != '-' && !w.decimal {
			n, err := strconv.Atoi(w.number[max(len(w.number)-2, 0):])
			if err != nil {
				w.err = raise(codeBadText, "\"%s\" is not a number", w.number)
				return
			}
			w.put(ordinal(int64(n), part.key))
		}
	case "MI":
		if w.sign == '-' {
			w.put("-")
		} else {
			w.unlessFill(" ")
		}
	case "PL":
		if w.sign == '+' {
			w.put("+")
		} else {
			w.unlessFill(" ")
		}
	case "SG":
		w.put(string(w.sign))
	}
}

// leadingZero reports whether the zero before the point is to be left out: 9.9 prints .1.
func (w *numPrinter) leadingZero() bool {
	return !w.zero && w.at == 0 && strings.HasPrefix(w.number, "0") && w.post != 0
}

func (w *numPrinter) lastIsPoint() bool { return w.last >= 0 && w.number[w.last] == '.' }

// digit writes one place: NUM_numpart_to_char.
func (w *numPrinter) digit(key string) {
	if w.roman {
		return
	}
	w.inside = false
	if !w.signed && (w.place >= w.spaces || w.zero && w.zeroFrom == w.place) && (!w.leadingZero() || w.lastIsPoint()) {
		w.leadingSign()
	}
	switch {
	case w.place < w.spaces && (w.zeroFrom > w.place || !w.zero):
		w.unlessFill(" ")
	case w.zero && w.place < w.spaces && w.zeroFrom <= w.place:
		w.put("0")
		w.inside = true
	default:
		w.next(key)
	}
	end := w.count
	if w.spaces > 0 {
		end++
	}
	if w.decimal {
		end++
	}
	if w.last >= 0 && w.last == w.at {
		end = w.place
	}
	if w.place+1 == end && !w.ended {
		w.trailingSign()
	}
	w.place++
}

// next writes the number's next character.
func (w *numPrinter) next(key string) {
	if w.at < len(w.number) && w.number[w.at] == '.' {
		w.put(".")
		w.at++
		return
	}
	switch {
	case w.last >= 0 && w.at > w.last && key != "0":
	case w.leadingZero():
		if !w.fill {
			w.put(" ")
		} else if w.lastIsPoint() {
			w.put("0")
		}
	case w.at < len(w.number):
		w.dst = append(w.dst, w.number[w.at])
		w.inside = true
	default:
		w.ended = true
	}
	if w.at < len(w.number) {
		w.at++
	}
}

func (w *numPrinter) leadingSign() {
	switch {
	case w.s:
		if w.sign0() {
			w.signed = true
		}
		return
	case w.bracket && w.sign == '+':
		w.put(" ")
	case w.bracket:
		w.put("<")
	case w.sign == '+':
		w.unlessFill(" ")
	case w.sign == '-':
		w.put("-")
	default:
		return
	}
	w.signed = true
}

// sign0 writes the sign of S if it stands before the digits.
func (w *numPrinter) sign0() bool {
	if w.numPicture.sign != signBefore {
		return false
	}
	w.put(string(w.sign))
	return true
}

func (w *numPrinter) trailingSign() {
	switch {
	case w.signed && w.bracket && w.sign == '+':
		w.put(" ")
	case w.signed && w.bracket:
		w.put(">")
	case w.s && w.numPicture.sign == signBehind:
		w.put(string(w.sign))
	}
}

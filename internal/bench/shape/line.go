package shape

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// line builds one CSV line, value by value, with the dice of its row.
type line struct {
	dice
	dst []byte
	any bool // a value was written
}

func newLine() *line { return &line{dice: dice{rand.NewPCG(0, 0)}} }

// begin throws the dice of row i.
func (l *line) begin(i int) {
	l.pcg.Seed(uint64(i)*0x9e3779b97f4a7c15+1, 1)
	l.any = false
}

func (l *line) end() { l.dst = append(l.dst, '\n') }

// next begins a value.
func (l *line) next() {
	if l.any {
		l.dst = append(l.dst, ',')
	}
	l.any = true
}

func (l *line) null() { l.next() }

func (l *line) int(v int) {
	l.next()
	l.dst = strconv.AppendInt(l.dst, int64(v), 10)
}

// fixed writes v / 10^digits with all its digits.
func (l *line) fixed(v, digits int) {
	l.next()
	if v < 0 {
		l.dst = append(l.dst, '-')
		v = -v
	}
	unit := 1
	for range digits {
		unit *= 10
	}
	l.dst = strconv.AppendInt(l.dst, int64(v/unit), 10)
	l.dst = append(l.dst, '.')
	l.padded(v%unit, digits)
}

// padded writes v with zeros in front.
func (l *line) padded(v, digits int) {
	at := len(l.dst)
	for range digits {
		l.dst = append(l.dst, '0')
	}
	for k := at + digits - 1; k >= at && v > 0; k-- {
		l.dst[k] = byte('0' + v%10)
		v /= 10
	}
}

// text writes a value that needs no quotes.
func (l *line) text(v string) {
	l.next()
	l.dst = append(l.dst, v...)
}

// quoted writes what build adds, in quotes.
func (l *line) quoted(v []byte) {
	l.next()
	l.dst = append(l.dst, '"')
	for _, c := range v {
		if c == '"' {
			l.dst = append(l.dst, '"')
		}
		l.dst = append(l.dst, c)
	}
	l.dst = append(l.dst, '"')
}

func (l *line) bool(v bool) {
	if v {
		l.text("t")
	} else {
		l.text("f")
	}
}

// day writes a date, days after 2023-01-01.
func (l *line) day(days int) {
	l.next()
	l.dst = epoch.AddDate(0, 0, days).AppendFormat(l.dst, "2006-01-02")
}

// moment writes a timestamptz, microseconds after 2023-01-01.
func (l *line) moment(micros int64) {
	l.next()
	l.dst = epoch.Add(time.Duration(micros)*time.Microsecond).AppendFormat(l.dst, "2006-01-02 15:04:05.999999+00")
}

var epoch = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)

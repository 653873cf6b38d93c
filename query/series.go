package query

import (
	"time"
)

// maxSteps bounds a series whose steps must be counted one by one, because months and days differ in length.
const maxSteps = 10_000_000

// steps is how many steps from a[0] stay within a[1].
func steps(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	from, to, v := i64(a[0]), i64(a[1]), readInterval(a[2])
	if !finiteStamp(from) || !finiteStamp(to) {
		return nil, raise(codeUnsupported, "a series of infinite timestamps is not supported")
	}
	sign := int64(v.months)*30*usDay + int64(v.days)*usDay + v.us
	switch {
	case sign == 0:
		return nil, raise(codeInvalid, "step size cannot equal zero")
	case sign > 0 && from > to, sign < 0 && from < to:
		return put64(dst, -1), nil
	case v.even(f):
		return put64(dst, (to-from)/sign), nil
	}
	n := int64(0)
	for t := from; ; n++ {
		next, err := f.step(t, v)
		if err != nil {
			return nil, err
		}
		if sign > 0 && next > to || sign < 0 && next < to {
			return put64(dst, n), nil
		}
		if t = next; n > maxSteps {
			return nil, raise(codeUnsupported, "a series of more than %d steps of days or months is not supported", maxSteps)
		}
	}
}

// even reports whether all steps of v have the same length.
func (v interval) even(f *frame) bool { return v.months == 0 && (v.days == 0 || f.zone() == time.UTC) }

func (f *frame) step(t int64, v interval) (int64, error) {
	if f.run != nil {
		return addToInstant(t, v, f.zone())
	}
	return addToStamp(t, v)
}

// reached remembers a value of a series for the next row.
type reached struct{ n, t int64 }

// stepAt is the value of a series after a[2] steps. Steps of months are taken one by one: January 31, February 28, March 28.
func stepAt(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	t, v, n := i64(a[0]), readInterval(a[1]), i64(a[2])
	if v.even(f) {
		return putStamp(dst, t+n*(int64(v.days)*usDay+v.us))
	}
	series := string(a[0]) + string(a[1])
	at, ok := f.cache.value.(reached)
	if !ok || f.cache.pattern != series || at.n > n {
		at = reached{t: t}
	}
	for ; at.n < n; at.n++ {
		next, err := f.step(at.t, v)
		if err != nil {
			return nil, err
		}
		at.t = next
	}
	f.cache.pattern, f.cache.value = series, at
	return putStamp(dst, at.t)
}

package format

import (
	"unsafe"

	"tailrace"
)

// ApplyMod appends to c the stored value raw of t's kind, made to fit t's modifier as an assignment does: a longer varchar or character is refused unless
// blanks are cut (22001), a numeric is rounded and must then fit (22003), times are rounded. explicitCast cuts any text to the length, as
// 'abc'::varchar(2) does.
func ApplyMod(c *tailrace.Column, t tailrace.Type, raw []byte, explicitCast bool) error {
	switch t.Kind {
	case tailrace.KindVarchar, tailrace.KindChar:
		fit, err := fitText(t, viewString(raw), explicitCast)
		if err != nil {
			return err
		}
		if t.Kind == tailrace.KindChar {
			fit = padText(t, fit)
		}
		c.AppendString(fit)
	case tailrace.KindNumeric:
		if t.Mod < 4 {
			c.Append(raw)
			return nil
		}
		return decimalOf(raw).appendTo(c, t)
	case tailrace.KindTime:
		c.AppendInt64(roundMicros(int64(le64(raw)), t.Mod))
	case tailrace.KindTimestamp, tailrace.KindTimestamptz:
		c.AppendInt64(roundTimestamp(int64(le64(raw)), t.Mod))
	case tailrace.KindInterval:
		intervalOf(raw).fit(t.Mod).appendTo(c)
	default:
		c.Append(raw)
	}
	return nil
}

// viewString is raw as a string without a copy, for as long as raw does not change.
func viewString(raw []byte) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

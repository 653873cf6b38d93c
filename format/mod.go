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
	case tailrace.KindArray:
		return applyElementMod(c, t, raw, explicitCast)
	default:
		c.Append(raw)
	}
	return nil
}

// applyElementMod is ApplyMod for each element of an array.
func applyElementMod(c *tailrace.Column, t tailrace.Type, raw []byte, explicitCast bool) error {
	if t.Mod < 0 {
		c.Append(raw)
		return nil
	}
	dims, elements, err := tailrace.ReadArray(t.Elem, raw)
	if err != nil {
		return err
	}
	out, element := tailrace.AppendArray(nil, dims), tailrace.MakeColumn(t.Elem, 1)
	for elements.Left > 0 {
		value, null := elements.Next()
		if null {
			out = tailrace.AppendNullElement(out)
			continue
		}
		element.Reset()
		if err := ApplyMod(&element, t.Element(), value, explicitCast); err != nil {
			return err
		}
		out = tailrace.AppendElement(out, element.Bytes(0))
	}
	c.Append(out)
	return nil
}

// viewString is raw as a string without a copy, for as long as raw does not change.
func viewString(raw []byte) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

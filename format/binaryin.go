package format

import (
	"encoding/binary"
	"fmt"

	"tailrace"
)

// ParseBinary reads a value as PostgreSQL's receive function for t does, checks the label of an enum under the settings s, and appends it to c.
// Errors are *tailrace.Error; c is then as it was.
func ParseBinary(c *tailrace.Column, t tailrace.Type, raw []byte, s *Settings) error {
	if !t.Valid() {
		panic(fmt.Sprintf("receive a value of kind %d (elements of %d), which does not exist", t.Kind, t.Elem))
	}
	if n := t.Kind.Width(); n > 0 {
		if len(raw) < n {
			return errShortBinary()
		}
		if len(raw) > n { // what is wrong with the value itself comes first
			scratch := tailrace.MakeColumn(t.Kind, 1)
			if err := ParseBinary(&scratch, t, raw[:n], s); err != nil {
				return err
			}
			return badBinaryLength()
		}
	}
	switch t.Kind {
	case tailrace.KindBool:
		c.AppendBool(raw[0] != 0)
	case tailrace.KindInt2:
		c.AppendInt16(int16(binary.BigEndian.Uint16(raw)))
	case tailrace.KindInt4, tailrace.KindFloat4, tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace,
		tailrace.KindRegrole:
		c.AppendInt32(int32(binary.BigEndian.Uint32(raw)))
	case tailrace.KindInt8, tailrace.KindFloat8:
		c.AppendInt64(int64(binary.BigEndian.Uint64(raw)))
	case tailrace.KindUUID, tailrace.KindBytea:
		c.Append(raw)
	case tailrace.KindNumeric:
		return parseNumericBinary(c, t, raw)
	case tailrace.KindDate, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz, tailrace.KindInterval:
		return parseMomentBinary(c, t, raw)
	case tailrace.KindJSONB:
		if len(raw) == 0 {
			return errShortBinary()
		}
		if raw[0] != jsonbVersion {
			return errorf("XX000", "unsupported jsonb version number %d", raw[0])
		}
		return parseJSONB(c, t, string(raw[1:]), nil)
	case tailrace.KindArray:
		return parseArrayBinary(c, t, raw, s)
	case tailrace.KindName:
		if err := checkText(string(raw)); err != nil {
			return err
		}
		if len(raw) > maxNameBytes {
			err := errorf("42622", "identifier too long")
			err.Detail = fmt.Sprintf("Identifier must be less than %d characters.", maxNameBytes+1)
			return err
		}
		return parseName(c, t, string(raw), s)
	case tailrace.KindLetter:
		return parseLetterBinary(c, raw)
	default: // texts
		return textParsers[t.Kind](c, t, string(raw), s)
	}
	return nil
}

// parseMomentBinary reads dates, times and intervals, whose numbers have a range.
func parseMomentBinary(c *tailrace.Column, t tailrace.Type, raw []byte) error {
	switch t.Kind {
	case tailrace.KindDate:
		days := int32(binary.BigEndian.Uint32(raw))
		if days != negInfinity32 && days != infinity32 && (days < minDate || days >= endDate) {
			return errorf(codeDateRange, "date out of range")
		}
		c.AppendInt32(days)
	case tailrace.KindTime:
		micros := int64(binary.BigEndian.Uint64(raw))
		if micros < 0 || micros > microsPerDay {
			return errorf(codeDateRange, "time out of range")
		}
		c.AppendInt64(roundMicros(micros, t.Mod))
	case tailrace.KindInterval:
		v := interval{
			micros: int64(binary.BigEndian.Uint64(raw)), days: int32(binary.BigEndian.Uint32(raw[8:])), months: int32(binary.BigEndian.Uint32(raw[12:])),
		}
		v.fit(t.Mod).appendTo(c)
	default:
		micros := int64(binary.BigEndian.Uint64(raw))
		if micros != negInfinity64 && micros != infinity64 && (micros < minTimestamp || micros >= endTimestamp) {
			return errorf(codeDateRange, "timestamp out of range")
		}
		c.AppendInt64(roundTimestamp(micros, t.Mod))
	}
	return nil
}

func parseNumericBinary(c *tailrace.Column, t tailrace.Type, raw []byte) error {
	short := false
	next := func() int {
		if len(raw) < 2 {
			short = true
			return 0
		}
		v := binary.BigEndian.Uint16(raw)
		raw = raw[2:]
		return int(v)
	}
	n, weight, sign := next(), int(int16(next())), next()
	d := decimal{}
	switch {
	case short:
		return errShortBinary()
	case sign == numericPositive:
	case sign == numericNegative:
		d.neg = true
	case sign == numericNaN:
		d.form = tailrace.DecimalNaN
	case sign == numericInf:
		d.form = tailrace.DecimalInf
	case sign == numericNegInf:
		d.form = tailrace.DecimalNegInf
	default:
		return badBinary("invalid sign in external \"numeric\" value")
	}
	scale := next()
	if scale > tailrace.MaxDecimalScale {
		return badBinary("invalid scale in external \"numeric\" value")
	}
	d.digits = make([]byte, 0, numericBaseDigits*min(n, len(raw)/2))
	for range n {
		group := next()
		if short {
			break
		}
		if group >= numericBase {
			return badBinary("invalid digit in external \"numeric\" value")
		}
		for unit := numericBase / 10; unit > 0; unit /= 10 {
			if digit := byte('0' + group/unit%10); len(d.digits) > 0 || digit != '0' {
				d.digits = append(d.digits, digit)
			}
		}
	}
	if short {
		return errShortBinary()
	}
	d.scale = numericBaseDigits * (n - 1 - weight)
	d.truncate(scale)
	if d.form == tailrace.DecimalFinite {
		if len(d.digits) > 0 && len(d.digits)-d.scale > maxNumericDigits {
			return overflowsNumeric()
		}
		if err := d.settle(scale); err != nil {
			return err
		}
	}
	if len(raw) > 0 {
		return badBinaryLength()
	}
	return d.appendTo(c, t)
}

// truncate drops the digits beyond scale.
func (d *decimal) truncate(scale int) {
	if len(d.digits) == 0 {
		d.scale = 0
		return
	}
	if drop := d.scale - scale; drop > 0 {
		d.digits = d.digits[:max(0, len(d.digits)-drop)]
		d.scale = scale
	}
}

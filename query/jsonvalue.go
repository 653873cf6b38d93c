package query

import (
	"bytes"

	"tailrace"
	"tailrace/format"
)

// appendJSON adds a stored value of type t as JSON: numbers, booleans and JSON as they are, arrays as arrays, others as strings.
func (f *frame) appendJSON(dst []byte, t tailrace.Type, raw []byte) ([]byte, error) {
	switch t.Kind {
	case kArray:
		v, err := readArray(raw)
		if err != nil {
			return nil, err
		}
		return f.appendJSONArray(dst, v, t.Element(), 0)
	case kBool:
		if raw[0] != 0 {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case kJSON, kJSONB:
		return append(dst, raw...), nil
	case kText, kVarchar, kChar, kForeign, kEnum, kName, kLetter:
		return appendQuoted(dst, string(raw)), nil
	}
	s := f.settings()
	if category(t.Kind) == 'D' {
		iso := *s
		iso.DateStyle = format.StyleISO
		s = &iso
	}
	text := format.AppendText(nil, t, f.column(t.Kind, raw), 0, s)
	switch {
	case category(t.Kind) == 'N' && !identifies(t.Kind) && text[len(text)-1] >= '0' && text[len(text)-1] <= '9':
		return append(dst, text...), nil
	case t.Kind == kStamp || t.Kind == kStampTZ:
		return appendQuoted(dst, string(xmlTime(text))), nil
	}
	return appendQuoted(dst, string(text)), nil
}

// xmlTime writes a timestamp as XML Schema has it: a T before the time, and minutes in the zone.
func xmlTime(text []byte) []byte {
	i := bytes.IndexByte(text, ' ')
	if i < 0 || i+1 == len(text) || text[i+1] < '0' || text[i+1] > '9' {
		return text
	}
	text[i] = 'T'
	rest := text[i:]
	if z := bytes.LastIndexAny(rest, "+-"); z > 0 {
		end := z + 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end == len(rest) || rest[end] != ':' {
			return append(append(bytes.Clone(text[:i+end]), ":00"...), rest[end:]...)
		}
	}
	return text
}

// appendJSONArray adds the elements of dimension dim; v.rows is used up.
func (f *frame) appendJSONArray(dst []byte, v array, element tailrace.Type, dim int) ([]byte, error) {
	if len(v.dims) == 0 {
		return append(dst, "[]"...), nil
	}
	rows := v.rows
	var level func(dim int) error
	level = func(dim int) error {
		dst = append(dst, '[')
		for i := range v.dims[dim].Length {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dim+1 < len(v.dims) {
				if err := level(dim + 1); err != nil {
					return err
				}
				continue
			}
			if rows[0] == nil {
				dst = append(dst, "null"...)
			} else {
				var err error
				if dst, err = f.appendJSON(dst, element, rows[0]); err != nil {
					return err
				}
			}
			rows = rows[1:]
		}
		dst = append(dst, ']')
		return nil
	}
	err := level(dim)
	return dst, err
}

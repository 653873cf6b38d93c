package format

import "tailrace"

// plainRow appends the fields of a line of the input to b, a value at a time. It is how an error comes to its words and its place, whatever found it; the batch then has
// a part of the row. line is its number.
func (p *CopyParser) plainRow(b *tailrace.Batch, r *fieldReader, text []byte, line int64) error {
	if err := r.split(text); err != nil {
		return p.opts.where(err, line, text)
	}
	if len(r.fields) > len(p.types) {
		return p.opts.where(errorf(codeBadCopy, "extra data after last expected column"), line, text)
	}
	for i := range p.types {
		if i >= len(r.fields) {
			return p.opts.where(errorf(codeBadCopy, "missing data for column \"%s\"", p.opts.name(i)), line, text)
		}
		f := p.forced(r.fields[i], i)
		if f.null {
			b.Cols[i].AppendNull()
			continue
		}
		if err := parseValue(&b.Cols[i], p.types[i], f.text, p.s); err != nil {
			if bad := checkText(f.text); bad != nil {
				return p.opts.where(bad, line, nil)
			}
			return p.opts.whereColumn(err, line, i, f.text)
		}
	}
	b.N++
	return nil
}

// forced applies CSV's FORCE_NOT_NULL and FORCE_NULL.
func (p *CopyParser) forced(f copyField, i int) copyField {
	o := &p.opts
	switch {
	case o.Layout != CopyCSV:
	case f.null && i < len(o.ForceNotNull) && o.ForceNotNull[i]:
		return copyField{text: o.Copy.Null}
	case !f.null && f.text == o.Copy.Null && i < len(o.ForceNull) && o.ForceNull[i]:
		return copyField{null: true}
	}
	return f
}

// plainBinaryRow is plainRow for a row of the binary format, whose fields are known to be whole.
func (p *CopyParser) plainBinaryRow(b *tailrace.Batch, row []byte, line int64) error {
	at := 2
	for i := range p.types {
		n := int(int32(beUint32(row[at:])))
		at += 4
		if n < 0 {
			b.Cols[i].AppendNull()
			continue
		}
		if err := ParseBinary(&b.Cols[i], p.types[i], row[at:at+n], p.s); err != nil {
			return p.opts.binaryWhere(err, line, i)
		}
		at += n
	}
	b.N++
	return nil
}

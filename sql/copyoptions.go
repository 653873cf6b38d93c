package sql

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace/format"
)

// copyOptions are the options of a COPY in either direction.
type copyOptions struct {
	layout              format.Layout
	delimiter           byte
	null                *string
	header, headerMatch bool
	quote, escape       byte
	forceQuote          []string // columns; "*" is all
	forceNotNull        []string
	forceNull           []string
}

// spelling is the options as package format takes them.
func (o *copyOptions) spelling() format.CopyFormat {
	f := format.DefaultCopy(o.layout)
	f.Header = o.header
	if o.delimiter != 0 {
		f.Delimiter = o.delimiter
	}
	if o.null != nil {
		f.Null = *o.null
	}
	if o.quote != 0 {
		f.Quote, f.Escape = o.quote, o.quote
	}
	if o.escape != 0 {
		f.Escape = o.escape
	}
	return f
}

// copyOptionsOf reads the options; in tells that they are of a COPY FROM.
func (s *Session) copyOptionsOf(st *statement, nodes []*pg_query.Node, in bool) (*copyOptions, error) {
	o := &copyOptions{layout: format.CopyText}
	seen := map[string]bool{}
	for _, n := range nodes {
		d := n.GetDefElem()
		if seen[d.Defname] {
			return nil, at(failure("42601", "conflicting or redundant options"), st.pos(d.Location))
		}
		seen[d.Defname] = true
		if err := s.copyOption(o, d, in); err != nil {
			return nil, at(err, st.pos(d.Location))
		}
	}
	csv := o.layout == format.CopyCSV
	switch {
	case !csv && (o.quote != 0 || o.escape != 0 || o.forceQuote != nil || o.forceNotNull != nil || o.forceNull != nil):
		return nil, failure("0A000", "COPY quote, escape and force options available only in CSV mode")
	case o.layout == format.CopyBinary && (o.delimiter != 0 || o.null != nil || o.header):
		return nil, failure("42601", "cannot specify DELIMITER, NULL or HEADER in BINARY mode")
	case o.delimiter != 0 && csv && o.delimiter == o.quote:
		return nil, failure("22023", "COPY delimiter and quote must be different")
	}
	return o, nil
}

func (s *Session) copyOption(o *copyOptions, d *pg_query.DefElem, in bool) (err error) {
	value := optionText(d.Arg)
	switch d.Defname {
	case "format":
		layouts := map[string]format.Layout{"text": format.CopyText, "csv": format.CopyCSV, "binary": format.CopyBinary}
		layout, ok := layouts[value]
		if !ok {
			return failure("22023", "COPY format \"%s\" not recognized", value)
		}
		o.layout = layout
	case "delimiter":
		o.delimiter, err = oneByte("delimiter", value)
		if err == nil && (o.delimiter == '\n' || o.delimiter == '\r') {
			return failure("22023", "COPY delimiter cannot be newline or carriage return")
		}
	case "null":
		if strings.ContainsAny(value, "\r\n") {
			return failure("22023", "COPY null representation cannot use newline or carriage return")
		}
		o.null = &value
	case "header":
		if in && strings.EqualFold(value, "match") {
			o.header, o.headerMatch = true, true
			return nil
		}
		b, ok := parseBool(value)
		if !ok && d.Arg != nil {
			return failure("22023", "header requires a Boolean value or \"match\"")
		}
		o.header = b || d.Arg == nil
	case "quote":
		o.quote, err = oneByte("quote", value)
	case "escape":
		o.escape, err = oneByte("escape", value)
	case "force_quote":
		o.forceQuote = columnList(d.Arg)
	case "force_not_null":
		o.forceNotNull = columnList(d.Arg)
	case "force_null":
		o.forceNull = columnList(d.Arg)
	case "encoding":
		if _, err := encoding(value); err != nil {
			return failure("22023", "argument to option \"encoding\" must be UTF8")
		}
	case "freeze":
	default:
		return failure("42601", "option \"%s\" not recognized", d.Defname)
	}
	return err
}

func oneByte(what, v string) (byte, error) {
	if len(v) != 1 {
		return 0, failure("0A000", "COPY %s must be a single one-byte character", what)
	}
	return v[0], nil
}

func columnList(n *pg_query.Node) []string {
	if n.GetAStar() != nil {
		return []string{"*"}
	}
	out := []string{}
	for _, i := range n.GetList().GetItems() {
		out = append(out, i.GetString_().GetSval())
	}
	return out
}

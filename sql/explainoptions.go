package sql

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// explaining is what the options of an EXPLAIN ask for.
type explaining struct {
	analyze, verbose, json bool
	timing, summary        bool
}

// explainOptions reads the options. Those of PostgreSQL's that mean nothing here are taken and do nothing.
func (s *Session) explainOptions(st *statement, list []*pg_query.Node) (*explaining, error) {
	e := &explaining{timing: true}
	summary := false
	for _, o := range list {
		d := o.GetDefElem()
		on := true
		if d.Defname != "format" && d.Arg != nil {
			b, ok := parseBool(optionText(d.Arg))
			if !ok {
				return nil, at(failure("42601", "%s requires a Boolean value", d.Defname), st.pos(d.Location))
			}
			on = b
		}
		switch d.Defname {
		case "analyze":
			e.analyze = on
		case "verbose":
			e.verbose = on
		case "timing":
			e.timing = on
		case "summary":
			e.summary, summary = on, true
		case "costs", "buffers", "wal", "settings":
		case "format":
			switch format := strings.ToLower(optionText(d.Arg)); format {
			case "text":
			case "json":
				e.json = true
			case "xml", "yaml":
				return nil, at(s.unsupported("EXPLAIN (FORMAT "+strings.ToUpper(format)+")", "Use FORMAT TEXT or FORMAT JSON."), st.pos(d.Location))
			default:
				return nil, at(failure("22023", "unrecognized value for EXPLAIN option \"format\": \"%s\"", optionText(d.Arg)), st.pos(d.Location))
			}
		default:
			return nil, at(failure("42601", "unrecognized EXPLAIN option \"%s\"", d.Defname), st.pos(d.Location))
		}
	}
	if !summary {
		e.summary = e.analyze
	}
	return e, nil
}

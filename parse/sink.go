package parse

import "strings"

// CreateSink is CREATE SINK name FROM tables | SOURCE source INTO kind (...) [WITH (...)].
type CreateSink struct {
	Name        Name
	IfNotExists bool
	Tables      []Name // or
	Source      *Name
	Kind        string            // lower case
	Options     map[string]string // of the target: url
	Secrets     map[string]string // options given as SECRET name
	With        map[string]string // memory, redo, consistency, ...; start is "snapshot" or "as of TIME"
}

// AlterSink is ALTER SINK name PAUSE | RESUME | RESYNC [TABLE t], RESUME FROM time, or SET (...).
type AlterSink struct {
	Name  Name
	Verb  string // "pause", "resume", "resync", "set"
	Table *Name  // nil for the whole sink
	From  string // a time as written, "" for none
	With  map[string]string
}

// createSink reads [IF NOT EXISTS] name FROM ... INTO kind (...) [WITH (...)].
func (p *parser) createSink() (err error) {
	p.i = 2
	c := &CreateSink{IfNotExists: p.accept("IF", "NOT", "EXISTS")}
	if c.Name, err = p.name(); err != nil {
		return err
	}
	if err := p.expect("FROM"); err != nil {
		return err
	}
	if err := p.sinkTables(c); err != nil {
		return err
	}
	if err := p.expect("INTO"); err != nil {
		return err
	}
	if c.Kind, err = p.identifier(); err != nil {
		return err
	}
	c.Kind = strings.ToLower(c.Kind)
	if c.Options, c.Secrets, err = p.pairs(); err != nil {
		return err
	}
	if p.accept("WITH") {
		if c.With, err = p.sinkOptions(); err != nil {
			return err
		}
	}
	p.st.CreateSink = c
	return p.end()
}

// sinkTables reads SOURCE name | name, ....
func (p *parser) sinkTables(c *CreateSink) error {
	if p.at(p.i, "SOURCE") && !p.at(p.i+1, ",") && !p.at(p.i+1, "INTO") && !p.at(p.i+1, ".") {
		p.i++
		n, err := p.name()
		c.Source = &n
		return err
	}
	for {
		n, err := p.name()
		if err != nil {
			return err
		}
		c.Tables = append(c.Tables, n)
		if !p.accept(",") {
			return nil
		}
	}
}

// sinkOptions reads (OPTION WORDS [=] value, ...), of which START may have AS OF time as its value.
func (p *parser) sinkOptions() (map[string]string, error) {
	options := map[string]string{}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	for {
		name, prefix := "start", ""
		var err error
		if p.at(p.i, "START") && (p.at(p.i+1, "AS") || p.at(p.i+1, "=") && p.at(p.i+2, "AS")) {
			p.i++
			p.accept("=")
			if !p.accept("AS", "OF") {
				return nil, p.unexpected()
			}
			prefix = "as of "
		} else if name, err = p.optionName(); err != nil {
			return nil, err
		}
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		options[name] = prefix + value
		if !p.accept(",") {
			return options, p.expect(")")
		}
	}
}

// alterSink reads ALTER SINK name verb ....
func (p *parser) alterSink() (err error) {
	p.i = 2
	a := &AlterSink{}
	if a.Name, err = p.name(); err != nil {
		return err
	}
	switch {
	case p.accept("SET"):
		a.Verb = "set"
		if a.With, err = p.sinkOptions(); err != nil {
			return err
		}
	case p.accept("PAUSE"), p.accept("RESUME"), p.accept("RESYNC"):
		a.Verb = strings.ToLower(p.toks[p.i-1].word)
		if a.Verb == "resume" && p.accept("FROM") {
			if a.From, err = p.value(); err != nil {
				return err
			}
			break
		}
		if !p.accept("TABLE") {
			if a.Verb == "resync" {
				return p.unexpected()
			}
			break
		}
		t, err := p.name()
		if err != nil {
			return err
		}
		a.Table = &t
	default:
		return p.unexpected()
	}
	p.st.AlterSink = a
	return p.end()
}

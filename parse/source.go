package parse

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// create reads CREATE SECRET | CONNECTION | SOURCE [IF NOT EXISTS] name ....
func (p *parser) create() (err error) {
	kind := p.toks[1].word
	p.i = 2
	missing := p.accept("IF", "NOT", "EXISTS")
	n, err := p.name()
	if err != nil {
		return err
	}
	switch kind {
	case "SECRET":
		c := &CreateSecret{Name: n, IfNotExists: missing}
		if err := p.expect("AS"); err != nil {
			return err
		}
		if c.Value, err = p.str(); err != nil {
			return err
		}
		p.st.CreateSecret = c
	case "CONNECTION":
		err = p.createConnection(&CreateConnection{Name: n, IfNotExists: missing})
	default:
		err = p.createSource(&CreateSource{Name: n, IfNotExists: missing})
	}
	if err != nil {
		return err
	}
	return p.end()
}

// createConnection reads TO kind (option value, ...).
func (p *parser) createConnection(c *CreateConnection) (err error) {
	if err := p.expect("TO"); err != nil {
		return err
	}
	if c.Kind, err = p.identifier(); err != nil {
		return err
	}
	c.Options, c.Secrets, err = p.pairs()
	p.st.CreateConnection = c
	return err
}

// createSource reads FROM kind CONNECTION name [(options)] FOR ... [WITH (...)].
func (p *parser) createSource(c *CreateSource) (err error) {
	if err := p.expect("FROM"); err != nil {
		return err
	}
	if c.Kind, err = p.identifier(); err != nil {
		return err
	}
	if err := p.expect("CONNECTION"); err != nil {
		return err
	}
	if c.Connection, err = p.name(); err != nil {
		return err
	}
	if p.at(p.i, "(") {
		if c.Options, _, err = p.pairs(); err != nil {
			return err
		}
	}
	if err := p.expect("FOR"); err != nil {
		return err
	}
	if err := p.tables(c); err != nil {
		return err
	}
	if p.accept("WITH") {
		if err := p.expect("("); err != nil {
			return err
		}
		if c.Retain, err = p.retain(false); err != nil {
			return err
		}
		if err := p.expect(")"); err != nil {
			return err
		}
	}
	p.st.CreateSource = c
	return nil
}

// tables reads ALL TABLES | TABLES (name, ...) | SCHEMAS (name, ...).
func (p *parser) tables(c *CreateSource) error {
	schemas := p.at(p.i, "SCHEMAS")
	switch {
	case p.accept("ALL", "TABLES"):
		c.All = true
		return nil
	case p.accept("TABLES"), p.accept("SCHEMAS"):
	default:
		return p.unexpected()
	}
	if err := p.expect("("); err != nil {
		return err
	}
	for {
		n, err := p.name()
		if err != nil {
			return err
		}
		if schemas {
			c.Schemas = append(c.Schemas, n.Name)
		} else {
			c.Tables = append(c.Tables, n)
		}
		if !p.accept(",") {
			return p.expect(")")
		}
	}
}

// pairs reads (OPTION WORDS [=] value | SECRET name, ...).
func (p *parser) pairs() (options, secrets map[string]string, err error) {
	options, secrets = map[string]string{}, map[string]string{}
	if err := p.expect("("); err != nil {
		return nil, nil, err
	}
	for {
		name, err := p.optionName()
		if err != nil {
			return nil, nil, err
		}
		into := options
		if p.at(p.i, "SECRET") && !p.at(p.i+1, ",") && !p.at(p.i+1, ")") {
			p.i++
			into = secrets
		}
		if into[name], err = p.value(); err != nil {
			return nil, nil, err
		}
		if !p.accept(",") {
			return options, secrets, p.expect(")")
		}
	}
}

// optionName reads the words of an option, and the = that may follow; the value comes next.
func (p *parser) optionName() (string, error) {
	var words []string
	for p.i+1 < len(p.toks) && !p.at(p.i+1, ",") && !p.at(p.i+1, ")") && !p.at(p.i, "=") && !(len(words) > 0 && p.at(p.i, "SECRET")) {
		if p.toks[p.i].word == "" { // any word may name an option, a reserved one too
			return "", p.unexpected()
		}
		words = append(words, strings.ToLower(p.toks[p.i].word))
		p.i++
	}
	if len(words) == 0 {
		return "", p.unexpected()
	}
	p.accept("=")
	return strings.Join(words, " "), nil
}

// value reads a string, a number or a word.
func (p *parser) value() (string, error) {
	if p.i >= len(p.toks) {
		return "", p.unexpected()
	}
	switch p.toks[p.i].kind {
	case pg_query.Token_SCONST, pg_query.Token_USCONST:
		return p.str()
	case pg_query.Token_ICONST, pg_query.Token_FCONST:
		p.i++
		return p.toks[p.i-1].text, nil
	}
	return p.identifier()
}

// alterSource reads ALTER SOURCE name verb [TABLE t], or SET | RESET (RETAIN HISTORY ...).
func (p *parser) alterSource() error {
	p.i = 2
	n, err := p.name()
	if err != nil {
		return err
	}
	if p.at(p.i, "SET") || p.at(p.i, "RESET") {
		r, err := p.setRetain()
		if err != nil {
			return err
		}
		r.Table, r.Source = &n, true
		p.st.Retain = r
		return p.end()
	}
	a := &AlterSource{Name: n}
	switch {
	case p.accept("PAUSE"), p.accept("RESUME"), p.accept("SKIP"), p.accept("RESYNC"):
		a.Verb = strings.ToLower(p.toks[p.i-1].word)
	default:
		return p.unexpected()
	}
	if p.accept("TABLE") {
		t, err := p.name()
		if err != nil {
			return err
		}
		a.Table = &t
	} else if a.Verb == "skip" || a.Verb == "resync" {
		return p.unexpected()
	}
	p.st.AlterSource = a
	return p.end()
}

// drop reads DROP SINK | SOURCE | CONNECTION | SECRET [IF EXISTS] name, ... [CASCADE | RESTRICT].
func (p *parser) drop() error {
	d := &Drop{Kind: strings.ToLower(p.toks[1].word)}
	p.i = 2
	d.IfExists = p.accept("IF", "EXISTS")
	for {
		n, err := p.name()
		if err != nil {
			return err
		}
		d.Names = append(d.Names, n)
		if !p.accept(",") {
			break
		}
	}
	if p.accept("CASCADE") {
		d.Cascade = true
	} else {
		p.accept("RESTRICT")
	}
	p.st.Drop = d
	return p.end()
}

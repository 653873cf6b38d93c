package pgwire

import (
	"fmt"

	"tailrace"
	"tailrace/sql"
)

// statements are the prepared statements of a session, by name; the unnamed one is "".
type statements struct {
	byName map[string]*prepared
	bytes  int // of their texts, at most PreparedBytes
}

type prepared struct {
	*sql.Prepared
	bytes int
}

func (s *statements) get(name string) (*prepared, error) {
	if p := s.byName[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, &tailrace.Error{Code: "26000", Message: "unnamed prepared statement does not exist"}
	}
	return nil, &tailrace.Error{Code: "26000", Message: fmt.Sprintf("prepared statement %q does not exist", name)}
}

func (s *statements) put(name string, p *prepared) error {
	if s.bytes+p.bytes > PreparedBytes {
		return &tailrace.Error{
			Code: "53200", Message: "too many prepared statements", Detail: fmt.Sprintf("One session may hold %d bytes of them.", PreparedBytes),
			Hint: "Close those that are no longer needed.",
		}
	}
	if s.byName == nil {
		s.byName = map[string]*prepared{}
	}
	s.byName[name] = p
	s.bytes += p.bytes
	return nil
}

func (s *statements) drop(name string) {
	if p := s.byName[name]; p != nil {
		s.bytes -= p.bytes
		delete(s.byName, name)
	}
}

// portal is a prepared statement with its parameters, and how far it has run.
type portal struct {
	bound   *sql.Bound
	columns []tailrace.ResultColumn
	empty   bool
	bytes   int      // of its parameters
	sending *sending // its formats from the start; its result once it ran
	done    bool
}

// portals are those of a session, by name; the unnamed one is "". They end with their transaction.
type portals struct {
	open  map[string]*portal
	bytes int // of their parameters, at most PortalBytes
}

func (p *portals) get(name string) (*portal, error) {
	if o := p.open[name]; o != nil {
		return o, nil
	}
	return nil, &tailrace.Error{Code: "34000", Message: fmt.Sprintf("portal %q does not exist", name)}
}

func (p *portals) put(name string, o *portal) error {
	if p.bytes+o.bytes > PortalBytes {
		return &tailrace.Error{
			Code: "53200", Message: "too many open portals", Detail: fmt.Sprintf("One session may hold %d bytes of parameters.", PortalBytes),
			Hint: "Send Sync more often, or close portals that are no longer needed.",
		}
	}
	if p.open == nil {
		p.open = map[string]*portal{}
	}
	p.open[name] = o
	p.bytes += o.bytes
	return nil
}

func (p *portals) drop(name string) {
	o := p.open[name]
	if o == nil {
		return
	}
	if o.sending.res != nil {
		o.sending.res.Close()
	}
	p.bytes -= o.bytes
	delete(p.open, name)
}

// close drops all.
func (p *portals) close() {
	for name := range p.open {
		p.drop(name)
	}
}

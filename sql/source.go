package sql

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/catalog"
)

// knownKinds are the databases that a connection may lead to.
var knownKinds = []string{"postgres"}

func (s *Session) wakeSources() {
	if s.engine.Sources != nil {
		s.txn.after = append(s.txn.after, func(context.Context) { s.engine.Sources.Wake() })
	}
}

// alreadyThere answers a CREATE of an object that may exist: done with a notice when it may be skipped, 42710 when not.
func (s *Session) alreadyThere(kind, name string, exists, skip bool) (done bool, err error) {
	switch {
	case !exists:
		return false, nil
	case skip:
		s.notice("NOTICE", "42710", fmt.Sprintf("%s \"%s\" already exists, skipping", kind, name))
		return true, nil
	}
	return false, failure("42710", "%s \"%s\" already exists", kind, name)
}

func (s *Session) missing(kind, name string) *tailrace.Error {
	return &tailrace.Error{Code: "42704", Message: fmt.Sprintf("%s \"%s\" does not exist", kind, name), Hint: fmt.Sprintf("SELECT name FROM mz_internal.mz_%ss lists them.", kind)}
}

func (s *Session) createSecret(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	c := st.CreateSecret
	if there, err := s.alreadyThere("secret", c.Name.Name, s.txn.catalog.SecretNamed(c.Name.Name) != nil, c.IfNotExists); there || err != nil {
		return done("CREATE SECRET"), err
	}
	s.txn.change(catalog.Change{Secret: &catalog.Secret{ID: s.txn.newID(), Name: c.Name.Name, Value: c.Value}})
	return done("CREATE SECRET"), nil
}

func (s *Session) createConnection(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	c := st.CreateConnection
	if err := s.knownKind(c.Kind); err != nil {
		return nil, err
	}
	for option, secret := range c.Secrets {
		if s.txn.catalog.SecretNamed(secret) == nil {
			e := s.missing("secret", secret)
			e.Detail = fmt.Sprintf("Option %s of connection \"%s\" names it.", option, c.Name.Name)
			return nil, e
		}
	}
	if c.Options["host"] == "" && c.Secrets["host"] == "" {
		return nil, &tailrace.Error{Code: "22023", Message: "a connection needs a HOST", Hint: "CREATE CONNECTION c TO POSTGRES (HOST '127.0.0.1', DATABASE 'shop', USER 'tailrace')."}
	}
	if there, err := s.alreadyThere("connection", c.Name.Name, s.txn.catalog.ConnectionNamed(c.Name.Name) != nil, c.IfNotExists); there || err != nil {
		return done("CREATE CONNECTION"), err
	}
	s.txn.change(catalog.Change{Connection: &catalog.Connection{ID: s.txn.newID(), Name: c.Name.Name, Kind: c.Kind, Options: c.Options, Secrets: c.Secrets}})
	return done("CREATE CONNECTION"), nil
}

func (s *Session) knownKind(kind string) error {
	if slices.Contains(knownKinds, kind) {
		return nil
	}
	return s.unsupported(fmt.Sprintf("a connection to \"%s\"", kind), "Use POSTGRES.")
}

func (s *Session) createSource(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	c := st.CreateSource
	if err := s.knownKind(c.Kind); err != nil {
		return nil, err
	}
	if there, err := s.alreadyThere("source", c.Name.Name, s.txn.catalog.SourceNamed(c.Name.Name) != nil, c.IfNotExists); there || err != nil {
		return done("CREATE SOURCE"), err
	}
	conn := s.txn.catalog.ConnectionNamed(c.Connection.Name)
	switch {
	case conn == nil:
		return nil, at(s.missing("connection", c.Connection.Name), st.pos(c.Connection.Loc))
	case conn.Kind != c.Kind:
		return nil, failure("42809", "connection \"%s\" leads to %s, not to %s", conn.Name, conn.Kind, c.Kind)
	}
	src := &catalog.Source{
		ID: s.txn.newID(), Name: c.Name.Name, Kind: c.Kind, Connection: conn.ID, Options: c.Options, All: c.All, Schemas: c.Schemas, Retain: catalog.DefaultRetain,
	}
	if src.Options == nil {
		src.Options = map[string]string{}
	}
	for _, t := range c.Tables {
		schema := t.Schema
		if schema == "" {
			schema = publicSchema
		}
		if s.txn.catalog.Table(schema, t.Name) != nil {
			return nil, at(failure("42P07", "relation \"%s\" already exists", t.Name), st.pos(t.Loc))
		}
		src.Tables = append(src.Tables, schema+"."+t.Name)
	}
	if c.Retain != nil {
		var err error
		if src.Retain, err = s.retention(st, c.Retain); err != nil {
			return nil, err
		}
	}
	s.txn.change(catalog.Change{Source: src})
	s.wakeSources()
	return done("CREATE SOURCE"), nil
}

// alterSource runs ALTER SOURCE ... PAUSE | RESUME [TABLE t].
func (s *Session) alterSource(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	a := st.AlterSource
	src := s.txn.catalog.SourceNamed(a.Name.Name)
	if src == nil {
		return nil, at(s.missing("source", a.Name.Name), st.pos(a.Name.Loc))
	}
	if a.Verb != "pause" && a.Verb != "resume" {
		return nil, s.unsupported("ALTER SOURCE ... "+a.Verb, "DROP SOURCE and CREATE SOURCE copy the tables again.")
	}
	if a.Table == nil {
		changed := *src
		changed.Paused = a.Verb == "pause"
		if !changed.Paused {
			changed.Error, changed.Hint = "", ""
		}
		s.txn.change(catalog.Change{Source: &changed})
		s.wakeSources()
		return done("ALTER SOURCE"), nil
	}
	t := s.find(a.Table.Schema, a.Table.Name)
	if t == nil || t.Upstream == nil || t.Upstream.Source != src.ID {
		return nil, at(failure("42P01", "source \"%s\" has no table \"%s\"", src.Name, a.Table), st.pos(a.Table.Loc))
	}
	changed, up := *t, *t.Upstream
	changed.Upstream = &up
	switch {
	case a.Verb == "pause" && up.State == catalog.StateSnapshot:
		return nil, failure("55000", "table \"%s\" is still being copied from its source", t.Name)
	case a.Verb == "pause":
		up.State = catalog.StatePaused
	default:
		up.State, up.Reason, up.Hint = catalog.StateLive, "", ""
	}
	s.txn.change(catalog.Change{Table: &changed})
	s.wakeSources()
	return done("ALTER SOURCE"), nil
}

// dropObjects runs DROP SINK | SOURCE | CONNECTION | SECRET.
func (s *Session) dropObjects(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	d := st.Drop
	tag := map[string]string{"sink": "DROP SINK", "source": "DROP SOURCE", "connection": "DROP CONNECTION", "secret": "DROP SECRET"}[d.Kind]
	for _, n := range d.Names {
		c := s.txn.catalog
		id, err := catalog.ID(0), error(nil)
		switch d.Kind {
		case "sink":
			if sink := c.SinkNamed(n.Name); sink != nil {
				id, err = sink.ID, s.dropSink(sink)
			}
		case "source":
			if src := c.SourceNamed(n.Name); src != nil {
				id, err = src.ID, s.dropSource(ctx, src)
			}
		case "connection":
			if conn := c.ConnectionNamed(n.Name); conn != nil {
				id, err = conn.ID, s.unusedConnection(conn)
			}
		default:
			if secret := c.SecretNamed(n.Name); secret != nil {
				id, err = secret.ID, s.unusedSecret(secret)
			}
		}
		switch {
		case err != nil:
			return nil, err
		case id == 0 && d.IfExists:
			s.notice("NOTICE", "00000", fmt.Sprintf("%s \"%s\" does not exist, skipping", d.Kind, n.Name))
		case id == 0:
			return nil, at(s.missing(d.Kind, n.Name), st.pos(n.Loc))
		default:
			s.txn.change(catalog.Change{Drop: id})
		}
	}
	return done(tag), nil
}

// dropSource drops a source's tables with it, and what was made for it at its database.
func (s *Session) dropSource(ctx context.Context, src *catalog.Source) error {
	if s.state == open {
		return failure("25001", "DROP SOURCE cannot run inside a transaction block")
	}
	for _, t := range s.txn.catalog.TablesOf(src.ID) {
		if err := s.unsunkTable(t); err != nil {
			return err
		}
	}
	if s.engine.Sources != nil {
		if err := s.engine.Sources.DropUpstream(ctx, src.ID); err != nil {
			s.options.Notice(&tailrace.Error{
				Severity: "WARNING", Code: "01000", Message: fmt.Sprintf("could not remove the slot of source \"%s\": %s", src.Name, err),
				Hint: fmt.Sprintf("At the source: SELECT pg_drop_replication_slot('%s').", src.Options["slot"]),
			})
		}
	}
	for _, t := range s.txn.catalog.TablesOf(src.ID) {
		s.txn.change(catalog.Change{Drop: t.ID})
	}
	s.wakeSources()
	return nil
}

func (s *Session) unusedConnection(c *catalog.Connection) error {
	for _, src := range s.txn.catalog.Sources {
		if src.Connection == c.ID {
			return &tailrace.Error{
				Code: "2BP01", Message: fmt.Sprintf("cannot drop connection \"%s\" because source \"%s\" depends on it", c.Name, src.Name), Hint: fmt.Sprintf("DROP SOURCE %s first.", src.Name),
			}
		}
	}
	return nil
}

func (s *Session) unusedSecret(secret *catalog.Secret) error {
	for _, sink := range s.txn.catalog.Sinks {
		if sink.Password == secret.Name {
			return &tailrace.Error{
				Code: "2BP01", Message: fmt.Sprintf("cannot drop secret \"%s\" because sink \"%s\" depends on it", secret.Name, sink.Name), Hint: fmt.Sprintf("DROP SINK %s first.", sink.Name),
			}
		}
	}
	for _, c := range s.txn.catalog.Connections {
		for _, name := range c.Secrets {
			if name == secret.Name {
				return &tailrace.Error{
					Code: "2BP01", Message: fmt.Sprintf("cannot drop secret \"%s\" because connection \"%s\" depends on it", secret.Name, c.Name), Hint: fmt.Sprintf("DROP CONNECTION %s first.", c.Name),
				}
			}
		}
	}
	return nil
}

package sql

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/parse"
)

// sinkKinds are the databases that a sink may write to, by the words for them.
var sinkKinds = map[string]string{"mysql": "mysql", "mariadb": "mysql", "postgres": "postgres"}

func (s *Session) wakeSinks() {
	if s.engine.Sinks != nil {
		s.txn.after = append(s.txn.after, func(context.Context) { s.engine.Sinks.Wake() })
	}
}

func (s *Session) createSink(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	c := st.CreateSink
	if there, err := s.alreadyThere("sink", c.Name.Name, s.txn.catalog.SinkNamed(c.Name.Name) != nil, c.IfNotExists); there || err != nil {
		return done("CREATE SINK"), err
	}
	sink := &catalog.Sink{ID: s.txn.newID(), Name: c.Name.Name, Kind: sinkKinds[c.Kind], SinkOptions: defaultSinkOptions()}
	if sink.Kind == "" {
		return nil, s.unsupported(fmt.Sprintf("a sink into \"%s\"", c.Kind), "Use MYSQL, MARIADB or POSTGRES.")
	}
	if err := s.sinkTarget(sink, c); err != nil {
		return nil, err
	}
	if err := s.sinkTables(st, sink, c); err != nil {
		return nil, err
	}
	if err := s.setSinkOptions(sink, c.With, false); err != nil {
		return nil, err
	}
	if sink.Start != 0 {
		if err := s.startReadable(sink, sink.Start); err != nil {
			return nil, err
		}
	}
	s.txn.change(catalog.Change{Sink: sink})
	s.wakeSinks()
	return done("CREATE SINK"), nil
}

// sinkTarget reads the address.
func (s *Session) sinkTarget(sink *catalog.Sink, c *parse.CreateSink) error {
	example := fmt.Sprintf("INTO %s (URL '%s://user@host/shop', PASSWORD SECRET name)", strings.ToUpper(c.Kind), sink.Kind)
	for name := range c.Options {
		if name != "url" {
			return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("option \"%s\" of a target is not known", name), Hint: "Write " + example + "."}
		}
	}
	for name, secret := range c.Secrets {
		if name != "password" {
			return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("option \"%s\" of a target cannot be a secret", name), Hint: "Write " + example + "."}
		}
		if s.txn.catalog.SecretNamed(secret) == nil {
			return s.missing("secret", secret)
		}
		sink.Password = secret
	}
	sink.URL = c.Options["url"]
	if sink.URL == "" {
		return &tailrace.Error{Code: "22023", Message: "a sink needs the URL of its target", Hint: "Write " + example + "."}
	}
	if u, err := url.Parse(sink.URL); err == nil {
		if _, has := u.User.Password(); has {
			s.notice("WARNING", "01000", "the password in the URL is kept in the catalog as it is; CREATE SECRET and PASSWORD SECRET name keep it apart")
		}
	}
	if s.engine.Sinks == nil {
		return nil
	}
	return s.engine.Sinks.Check(sink.Kind, sink.URL)
}

// sinkTables finds the tables that the sink follows.
func (s *Session) sinkTables(st *statement, sink *catalog.Sink, c *parse.CreateSink) error {
	if c.Source != nil {
		src := s.txn.catalog.SourceNamed(c.Source.Name)
		if src == nil {
			return at(s.missing("source", c.Source.Name), st.pos(c.Source.Loc))
		}
		sink.Source = src.ID
		for _, t := range s.txn.catalog.TablesOf(src.ID) {
			sink.Tables = append(sink.Tables, t.ID)
		}
		if len(sink.Tables) == 0 {
			return &tailrace.Error{Code: "55000", Message: fmt.Sprintf("source \"%s\" has no tables yet", src.Name), Hint: "Wait until SELECT * FROM mz_internal.mz_source_tables lists them."}
		}
		return nil
	}
	for _, n := range c.Tables {
		t := s.find(n.Schema, n.Name)
		if t == nil {
			return at(noRelation(n.Schema, n.Name), st.pos(n.Loc))
		}
		if s.txn.isNew(t.ID) {
			return &tailrace.Error{Code: "55000", Message: fmt.Sprintf("table \"%s\" is created by this transaction", t.Name), Hint: "COMMIT first."}
		}
		if slices.Contains(sink.Tables, t.ID) {
			return at(failure("42701", "table \"%s\" specified more than once", t.Name), st.pos(n.Loc))
		}
		sink.Tables = append(sink.Tables, t.ID)
	}
	return nil
}

// startReadable is 22023 when the history of a table does not reach back to t, or t is still to come.
func (s *Session) startReadable(sink *catalog.Sink, t tailrace.Time) error {
	if t > s.txn.time {
		return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("the start %d is still to come", t), Detail: fmt.Sprintf("The newest committed time is %d.", s.txn.time)}
	}
	for _, id := range sink.Tables {
		if sh := s.engine.Shards.Shard(id); sh != nil && sh.Since() > t {
			return &tailrace.Error{
				Code: "22023", Message: fmt.Sprintf("the start %d of sink \"%s\" is no longer readable", t, sink.Name),
				Detail: fmt.Sprintf("The oldest readable time of table \"%s\" is %d.", s.txn.catalog.Tables[id].Name, sh.Since()),
				Hint:   "Start at that time or later, or with START = 'snapshot'.",
			}
		}
	}
	return nil
}

// alterSink runs ALTER SINK.
func (s *Session) alterSink(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	a := st.AlterSink
	sink := s.txn.catalog.SinkNamed(a.Name.Name)
	if sink == nil {
		return nil, at(s.missing("sink", a.Name.Name), st.pos(a.Name.Loc))
	}
	changed := *sink
	var err error
	switch {
	case a.Verb == "set":
		err = s.setSinkOptions(&changed, a.With, true)
	case a.Table != nil:
		err = s.alterSinkTable(st, &changed, a)
	case a.Verb == "pause":
		changed.Paused = true
	default:
		err = s.resumeSink(&changed, a.From)
	}
	if err != nil {
		return nil, err
	}
	s.txn.change(catalog.Change{Sink: &changed})
	s.wakeSinks()
	return done("ALTER SINK"), nil
}

func (s *Session) resumeSink(sink *catalog.Sink, from string) error {
	failed := sink.Error != ""
	sink.Paused, sink.Error, sink.Hint = false, "", ""
	if from == "" {
		if failed {
			return s.heldNoMore(sink)
		}
		return nil
	}
	t, ok := s.timeOf(tailrace.TypeOf(tailrace.KindText), expr.Value{Raw: []byte(from)})
	if !ok {
		return invalidStart(from)
	}
	for _, id := range sink.Tables {
		table := s.txn.catalog.Tables[id]
		if len(table.Columns.Key) == 0 && s.txn.catalog.SinkProgress[sink.ID][id].Time > t {
			return &tailrace.Error{
				Code: "0A000", Message: fmt.Sprintf("table \"%s\" has no key: its rows after %d would come to the target a second time", table.Name, t),
				Hint: fmt.Sprintf("ALTER SINK %s RESYNC TABLE %s empties the target's table and loads it.", sink.Name, table.Name),
			}
		}
	}
	sink.Start, sink.Generation = t, sink.Generation+1
	return s.startReadable(sink, t)
}

// heldNoMore refuses to resume a sink that failed when what it has not sent is gone meanwhile.
func (s *Session) heldNoMore(sink *catalog.Sink) error {
	for _, id := range sink.Tables {
		span, sh := s.txn.catalog.SinkProgress[sink.ID][id], s.engine.Shards.Shard(id)
		if sh != nil && span.Time != 0 && span.Time < sh.Since() && sink.Resyncs[id] <= span.Resyncs {
			name := s.txn.catalog.Tables[id].Name
			return &tailrace.Error{
				Code: "55000", Message: fmt.Sprintf("the changes of table \"%s\" after %d, where sink \"%s\" is, are gone", name, span.Time, sink.Name),
				Hint: fmt.Sprintf("ALTER SINK %s RESYNC TABLE %s; for each such table, then resume.", sink.Name, name),
			}
		}
	}
	return nil
}

// alterSinkTable runs PAUSE | RESUME | RESYNC TABLE.
func (s *Session) alterSinkTable(st *statement, sink *catalog.Sink, a *parse.AlterSink) error {
	t := s.find(a.Table.Schema, a.Table.Name)
	if t == nil || !slices.Contains(sink.Tables, t.ID) {
		return at(failure("42P01", "sink \"%s\" has no table \"%s\"", sink.Name, a.Table), st.pos(a.Table.Loc))
	}
	held, resyncs := map[catalog.ID]bool{}, map[catalog.ID]int{}
	for _, id := range sink.Tables {
		if sink.Held[id] {
			held[id] = true
		}
		if n := sink.Resyncs[id]; n > 0 {
			resyncs[id] = n
		}
	}
	switch a.Verb {
	case "pause":
		held[t.ID] = true
	case "resume":
		delete(held, t.ID)
	default:
		delete(held, t.ID)
		resyncs[t.ID]++
	}
	sink.Held, sink.Resyncs, sink.Retries = held, resyncs, sink.Retries+1
	return nil
}

// dropSink has the feed end, and its progress removed from the target, once the sink is gone for good: a DROP that does not commit leaves all as it is.
func (s *Session) dropSink(sink *catalog.Sink) error {
	if s.state == open {
		return failure("25001", "DROP SINK cannot run inside a transaction block")
	}
	if s.engine.Sinks == nil {
		return nil
	}
	s.txn.after = append(s.txn.after, func(ctx context.Context) {
		if err := s.engine.Sinks.Forget(ctx, sink); err != nil {
			s.options.Notice(&tailrace.Error{
				Severity: "WARNING", Code: "01000", Message: fmt.Sprintf("could not remove the progress of sink \"%s\" from its target: %s", sink.Name, err),
				Hint: "At the target: DELETE the feed's rows of tailrace.feeds and tailrace.progress.",
			})
		}
	})
	return nil
}

// unsunkTable is 2BP01 when a sink follows the table.
func (s *Session) unsunkTable(t *catalog.Table) error {
	sink := s.txn.catalog.SinkOf(t.ID)
	if sink == nil {
		return nil
	}
	return &tailrace.Error{
		Code: "2BP01", Message: fmt.Sprintf("cannot drop table \"%s\" because sink \"%s\" follows it", t.Name, sink.Name),
		Hint: fmt.Sprintf("DROP SINK %s first; the target's table stays as it is.", sink.Name),
	}
}

func invalidStart(text string) error {
	return &tailrace.Error{
		Code: "22023", Message: fmt.Sprintf("\"%s\" is no time to start from", text), Hint: "Give microseconds since 1970, or a timestamp with time zone.",
	}
}

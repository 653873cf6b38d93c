package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tailrace"
)

// SinkUnder is a real target with its adapter.
type SinkUnder struct {
	// Open returns the adapter of the target, each time another one of the same target.
	Open func(t *testing.T) tailrace.Sink
	// Absent is an adapter of a database that the server does not have.
	Absent  func(t *testing.T) tailrace.Sink
	Options tailrace.SinkOptions
	// Exec runs statements at the target, Query returns rows as text, NULL as "NULL".
	Exec  func(t testing.TB, sql string)
	Query func(t testing.TB, sql string) [][]string
	// Kill ends every connection to the target but its own.
	Kill func(t *testing.T)
	// Types are the types of columns to try.
	Types []SinkType
}

// SinkType is a type with values that must arrive as they are, and values that must be refused.
type SinkType struct {
	Type            tailrace.Type
	Values, Refused []string
}

// Sink runs the suite of tailrace.Sink. Each case has a name of its own for its tables and its feed.
func Sink(t *testing.T, open func(t *testing.T) SinkUnder) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s *sinkCase)
	}{
		{"EveryTypeArrivesAndComesBack", sinkTypes},
		{"ValueThatTheTargetCannotHoldIsTheRowsFault", sinkRefusedValues},
		{"UpsertReplaceDelete", sinkChanges},
		{"KeyOfSeveralColumns", sinkWideKey},
		{"EqualRowsAreCounted", sinkKeyless},
		{"UniqueValueMovesInOneTransaction", sinkUniqueMoves},
		{"UpsertNeverTouchesAnotherRow", sinkUniqueGuard},
		{"ParentAndChildAreDeleted", sinkForeign},
		{"OlderEpochIsFenced", sinkFence},
		{"NothingIsAppliedTwice", sinkTwice},
		{"RowAtFaultIsFound", sinkRowFound},
		{"TableThatCannotHoldIsRefused", sinkTableFaults},
		{"StreamedTransaction", sinkStreamed},
		{"ManyRowsInPages", sinkPages},
		{"AbandonedTransactionLeavesNothing", sinkAbandoned},
		{"LostConnectionLeavesNothing", sinkKilled},
		{"UnknownDatabaseIsTheTargetsFault", sinkDown},
		{"ChangesOfTheTableAreMadeOnce", sinkAlters},
		{"ForgottenFeedLeavesNothing", sinkForget},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newSinkCase(t, open(t))) })
	}
}

// sinkCase is a case under way: one feed with one connection, whose transactions are at 1, 2, 3, ...
type sinkCase struct {
	SinkUnder
	sink tailrace.Sink
	conn tailrace.SinkConn
	feed string
	at   tailrace.Time
}

func newSinkCase(t *testing.T, u SinkUnder) *sinkCase {
	s := &sinkCase{SinkUnder: u, sink: u.Open(t), feed: t.Name()}
	_, err := s.sink.Prepare(t.Context(), s.feed, 1)
	must(t, "prepare", err)
	s.conn = s.connect(t, s.sink)
	return s
}

func (s *sinkCase) connect(t *testing.T, sink tailrace.Sink) tailrace.SinkConn {
	t.Helper()
	conn, err := sink.Connect(t.Context())
	must(t, "connect", err)
	t.Cleanup(func() { _ = conn.Close() }) // cases that kill it close what is gone
	return conn
}

// column is "name" of a type.
type column struct {
	name string
	typ  tailrace.Type
}

func of(name string, k tailrace.Kind) column { return column{name, tailrace.TypeOf(k)} }

// tableOf describes a table whose first keys columns are its key.
func tableOf(name string, keys int, columns ...column) *tailrace.SinkTable {
	schema := &tailrace.Schema{Version: 1}
	for i, c := range columns {
		schema.Fields = append(schema.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: c.name, Type: c.typ, NotNull: i < keys})
	}
	for i := range keys {
		schema.Key = append(schema.Key, i)
	}
	return &tailrace.SinkTable{Collection: 7, Schema: "public", Name: name, Columns: schema}
}

func (s *sinkCase) table(t *testing.T, st *tailrace.SinkTable) *tailrace.SinkTarget {
	t.Helper()
	target, err := s.sink.Table(t.Context(), st, true)
	must(t, "table "+st.Name, err)
	return target
}

// rows makes a batch of rows given as text: "1|bolt|NULL", "2|nut|5 *3" with diff 3.
func (s *sinkCase) rows(t *testing.T, target *tailrace.SinkTarget, texts ...string) *tailrace.Batch {
	t.Helper()
	b := tailrace.NewBatch(target.Table.Columns, len(texts))
	for _, text := range texts {
		diff := 1
		if row, n, ok := strings.Cut(text, " *"); ok {
			text = row
			if _, err := fmt.Sscan(n, &diff); err != nil {
				t.Fatal(err)
			}
		}
		for i, v := range strings.Split(text, "|") {
			if v == "NULL" {
				b.Cols[i].AppendNull()
				continue
			}
			must(t, v, s.Options.Parse(&b.Cols[i], target.Table.Columns.Fields[i].Type, v))
		}
		b.AppendDiff(tailrace.Diff(diff))
	}
	return b
}

func (s *sinkCase) step(t *testing.T, kind tailrace.SinkStepKind, target *tailrace.SinkTarget, texts ...string) tailrace.SinkStep {
	t.Helper()
	return tailrace.SinkStep{Kind: kind, Target: target, Rows: s.rows(t, target, texts...)}
}

// try applies steps as the next transaction.
func (s *sinkCase) try(steps ...tailrace.SinkStep) error {
	s.at++
	err := s.conn.Apply(context.Background(), &tailrace.SinkTxn{Steps: steps, Progress: []tailrace.SinkProgress{{Span: 7, Lane: 3, Time: s.at}}})
	if err != nil {
		s.at--
	}
	return err
}

func (s *sinkCase) apply(t *testing.T, steps ...tailrace.SinkStep) {
	t.Helper()
	must(t, "apply", s.try(steps...))
}

// want compares what a query of the target says: rows "1|bolt".
func (s *sinkCase) want(t *testing.T, query string, want ...string) {
	t.Helper()
	var got []string
	for _, r := range s.Query(t, query) {
		got = append(got, strings.Join(r, "|"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", query, got, want)
	}
}

// faultOf demands a *tailrace.SinkError of the fault, with a way on.
func faultOf(t *testing.T, what string, err error, want tailrace.SinkFault) *tailrace.SinkError {
	t.Helper()
	se := (*tailrace.SinkError)(nil)
	if !errors.As(err, &se) {
		t.Fatalf("%s: got %v, want a SinkError of fault %d", what, err, want)
	}
	if se.Fault != want || se.Err.Code == "" || se.Err.Hint == "" {
		t.Fatalf("%s: got fault %d, code %q, hint %q (%v), want fault %d with a code and a hint", what, se.Fault, se.Err.Code, se.Err.Hint, err, want)
	}
	return se
}

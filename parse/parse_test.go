package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// TestStories parses what testdata/* hold and compares with the answers there; -rewrite writes them.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			sts, err := Parse(d.Input)
			if err != nil {
				return mistake(err)
			}
			var b strings.Builder
			for _, st := range sts {
				b.WriteString(show(t, st) + "\n")
			}
			return b.String()
		})
	})
}

func mistake(err error) string {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return "not our error: " + err.Error() + "\n"
	}
	return fmt.Sprintf("%s: %s at %d\n", e.Code, e.Message, e.Position)
}

func show(t *testing.T, st *Statement) string {
	switch {
	case st.Tree != nil:
		s := "postgres: " + deparse(t, st.Tree)
		if st.Retain != nil {
			s += fmt.Sprintf(" | retain %+q", st.Retain.For)
		}
		if st.AsOf != nil {
			s += " | as of " + expression(t, st.AsOf)
		}
		return s
	case st.Subscribe != nil:
		return showSubscribe(t, st.Subscribe)
	case st.ExplainSubscribe != nil:
		return "explain " + showSubscribe(t, st.ExplainSubscribe)
	case st.CopySubscribe != nil:
		return fmt.Sprintf("copy options=%d %s", len(st.CopySubscribe.Options), showSubscribe(t, st.CopySubscribe.Subscribe))
	case st.DeclareSubscribe != nil:
		d := st.DeclareSubscribe
		return fmt.Sprintf("declare %s hold=%v %s", d.Cursor, d.Hold, showSubscribe(t, d.Subscribe))
	case st.Fetch != nil:
		return fmt.Sprintf("fetch %+v", *st.Fetch)
	case st.Retain != nil:
		return fmt.Sprintf("retain %v reset=%v for=%q source=%v", st.Retain.Table, st.Retain.Reset, st.Retain.For, st.Retain.Source)
	case st.CreateSecret != nil:
		return fmt.Sprintf("%+v", *st.CreateSecret)
	case st.CreateConnection != nil:
		return fmt.Sprintf("%+v", *st.CreateConnection)
	case st.CreateSource != nil:
		c := *st.CreateSource
		retain := c.Retain
		if c.Retain = nil; retain == nil {
			retain = &Retain{}
		}
		return fmt.Sprintf("%+v retain=%q", c, retain.For)
	case st.AlterSource != nil:
		return fmt.Sprintf("alter %v %s %v", st.AlterSource.Name, st.AlterSource.Verb, st.AlterSource.Table)
	case st.CreateSink != nil:
		c := *st.CreateSink
		source := c.Source
		c.Source = nil
		return fmt.Sprintf("%+v source=%v", c, source)
	case st.AlterSink != nil:
		a := *st.AlterSink
		table := a.Table
		a.Table = nil
		return fmt.Sprintf("%+v table=%v", a, table)
	case st.Drop != nil:
		return fmt.Sprintf("%+v", *st.Drop)
	case st.Backup != nil:
		return fmt.Sprintf("backup %q", st.Backup.To)
	}
	return "nothing"
}

func showSubscribe(t *testing.T, s *Subscribe) string {
	var b strings.Builder
	if s.Object != nil {
		fmt.Fprintf(&b, "subscribe %s", s.Object)
	} else {
		fmt.Fprintf(&b, "subscribe (%s)", deparse(t, s.Query))
	}
	fmt.Fprintf(&b, " envelope=%d key=%v order=%v snapshot=%v progress=%v", s.Envelope, s.Key, s.OrderBy, s.Snapshot, s.Progress)
	if s.AsOf != nil {
		fmt.Fprintf(&b, " asof=%s least=%v", expression(t, s.AsOf), s.AtLeast)
	}
	if s.UpTo != nil {
		fmt.Fprintf(&b, " upto=%s", expression(t, s.UpTo))
	}
	return b.String()
}

func deparse(t *testing.T, n *pg_query.Node) string {
	s, err := pg_query.Deparse(&pg_query.ParseResult{Version: 170007, Stmts: []*pg_query.RawStmt{{Stmt: n}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func expression(t *testing.T, n *pg_query.Node) string {
	target := &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: n}}}
	sel := &pg_query.SelectStmt{TargetList: []*pg_query.Node{target}}
	return strings.TrimPrefix(deparse(t, &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}), "SELECT ")
}

func TestPositionCountsCharactersOfTheWholeText(t *testing.T) {
	sts, err := Parse("select 'é'; select 'ü', x from t")
	if err != nil {
		t.Fatal(err)
	}
	ref := sts[1].Tree.GetSelectStmt().TargetList[1].GetResTarget().Val.GetColumnRef()
	if got, want := sts[1].Position(ref.Location), 25; got != want {
		t.Errorf("position of x: got %d, want %d", got, want)
	}
}

func TestCacheIsBounded(t *testing.T) {
	var c Cache
	for i := range 1000 {
		sql := fmt.Sprintf("select %d %s", i, strings.Repeat(" ", 8000))
		if _, err := c.Parse(sql); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.young) + len(c.old); n > cacheTexts/8000+1 {
		t.Errorf("the cache holds %d texts of 8,000 bytes, its bound is %d bytes", n, cacheTexts)
	}
	a, _ := c.Parse("select 1")
	b, _ := c.Parse("select 1")
	if a[0] != b[0] {
		t.Error("a text seen twice was parsed twice")
	}
}

// FuzzParse demands that no text makes the parser panic, and that a mistake's position is within the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"SUBSCRIBE t AS OF 1 UP TO 2", "COPY (SUBSCRIBE (SELECT a FROM t) WITH (PROGRESS)) TO STDOUT", "FETCH 3 c WITH (TIMEOUT='1s')",
		"DECLARE c CURSOR FOR SUBSCRIBE t", "CREATE SOURCE s FROM POSTGRES CONNECTION c FOR ALL TABLES", "CREATE TABLE t (a int) WITH (RETAIN HISTORY FOR '1h')",
		"CREATE CONNECTION c TO POSTGRES (SSL MODE 'x', PASSWORD SECRET p)", "ALTER TABLE t RESET (RETAIN HISTORY)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		_, err := Parse(sql)
		var e *tailrace.Error
		if errors.As(err, &e) && (e.Position < 0 || e.Position > len(sql)+1) {
			t.Errorf("position %d of a text of %d bytes: %q", e.Position, len(sql), sql)
		}
	})
}

package query

import (
	"os"
	"strings"
	"testing"
)

// TestAgreesWithPostgres runs the statements of testdata/agree.sql here and on PostgreSQL 15: rows, column names, types, and errors with
// SQLSTATE, message and position are the same.
func TestAgreesWithPostgres(t *testing.T) {
	e := engine(t)
	c := connect(t)
	setup, err := os.ReadFile("testdata/setup.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), string(setup)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	ts := tables{}
	ts.load(t, c, "emp", 0)
	ts.load(t, c, "dept", 0)
	ts.load(t, c, "kinds")
	text, err := os.ReadFile("testdata/agree.sql")
	if err != nil {
		t.Fatal(err)
	}
	agree, all := 0, 0
	for _, sql := range strings.Split(string(text), "\n") {
		if sql == "" || strings.HasPrefix(sql, "--") {
			continue
		}
		all++
		if d := compare(sql, askPostgres(t, c, sql), ask(e, ts, sql, nil, nil)); d != "" {
			t.Error(d)
		} else {
			agree++
		}
	}
	t.Logf("%d of %d statements agree", agree, all)
}

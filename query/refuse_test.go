package query

import (
	"testing"

	"tailrace"
)

// TestRefusesWhatItCannotDoExactly: these run on PostgreSQL. Here they are refused with 0A000 rather than answered differently.
func TestRefusesWhatItCannotDoExactly(t *testing.T) {
	e := engine(t)
	s := &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "a", Type: tailrace.TypeOf(kInt4)}, {ID: 2, Name: "j", Type: tailrace.TypeOf(kJSONB)}}}
	ts := tables{}
	ts.add("t", 1, s, tailrace.NewBatch(s, 0))
	for _, sql := range []string{
		"SELECT (1, 2)",
		"SELECT t FROM t",
		"SELECT (ROW(1, 2)).f1",
		"SELECT t = t FROM t",
		"SELECT ARRAY[t] FROM t",
		"SELECT * FROM jsonb_to_recordset('[]') AS x(a int)",
		"SELECT jsonb_each('{}')",
		"SELECT CASE WHEN true THEN unnest(ARRAY[1]) END",
		"SELECT jsonb_path_query('{}', '$')",
		"SELECT 'aa' ~ '(a)\\1'",
		"SELECT 'a' COLLATE \"de-x-icu\" < 'b'",
		"SELECT '1.2.3.4'::inet",
		"SELECT time with time zone '10:00+01'",
		"SELECT current_time",
		"SELECT a FROM t TABLESAMPLE SYSTEM (10)",
		"SELECT B'101'",
		"SELECT sind(30)",
		"SELECT normalize('a')",
		"SELECT rank(1) WITHIN GROUP (ORDER BY a) FROM t",
		"SELECT count(DISTINCT (a, a)) FROM t",
		"SELECT a FROM t ORDER BY a USING ~<~",
		"WITH x AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM x",
		"SELECT sum(a) OVER (ORDER BY a::numeric RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
	} {
		if a := ask(e, ts, sql, nil, nil); a.code != "0A000" {
			t.Errorf("%s: got %v, want 0A000", sql, a)
		}
	}
}

// TestHintsSayWhatToType checks that errors a user can mend come with a hint.
func TestHintsSayWhatToType(t *testing.T) {
	e := engine(t)
	for sql, want := range map[string]string{
		"SELECT 1 + 'a'::text": "No operator matches the given name and argument types. You might need to add explicit type casts.",
		"SELECT nosuch(1)":     "No function matches the given name and argument types. You might need to add explicit type casts.",
		"SELECT '1' + '2'":     "Could not choose a best candidate operator. You might need to add explicit type casts.",
	} {
		if got := hintOf(t, e, sql); got != want {
			t.Errorf("%s: got hint %q, want %q", sql, got, want)
		}
	}
}

package duckdb

import (
	"fmt"
	"testing"
)

// registerEcho makes echo(list) known: the same list, built anew from what the function reads.
func registerEcho(t *testing.T, e *Engine) {
	t.Helper()
	err := e.RegisterScalar(&Scalar{Name: "echo", Params: []Type{ListOf(Varchar)}, Returns: ListOf(Varchar), Eval: func(args []*Vector, out *Vector, n int) error {
		elements := args[0].Elements()
		var ends []int
		var data []byte
		var nulls []bool
		offsets := []int32{0}
		for i := range n {
			if args[0].IsNull(i) {
				out.SetNull(i)
				ends = append(ends, len(nulls))
				continue
			}
			from, length := args[0].List(i)
			for k := from; k < from+length; k++ {
				null := elements.IsNull(k)
				if !null {
					data = append(data, elements.Bytes(k)...)
				}
				nulls, offsets = append(nulls, null), append(offsets, int32(len(data)))
			}
			ends = append(ends, len(nulls))
		}
		return out.SetLists(ends, data, offsets, func(k int) bool { return nulls[k] })
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestListsComeAndGo passes lists through Go: constant ones, columns, empty, NULL, with NULL elements, sliced by a filter, and with more elements
// than a vector has rows.
func TestListsComeAndGo(t *testing.T) {
	e := open(t)
	registerEcho(t, e)
	for _, list := range []string{
		"['a', NULL, 'a text of more than twelve bytes']", "CAST([] AS VARCHAR[])", "CAST(NULL AS VARCHAR[])", "[NULL]",
		"list_transform(range(5000), lambda x: CAST(x AS VARCHAR))",
		"CASE WHEN i % 3 = 0 THEN NULL WHEN i % 3 = 1 THEN CAST([] AS VARCHAR[]) ELSE list_transform(range(i), lambda x: CASE WHEN x % 7 > 0 THEN 'element ' || x || ' of ' || i END) END",
		"list_filter(['a', 'b', NULL, 'c'], lambda x: x IS DISTINCT FROM 'b')", "(SELECT list(CAST(j AS VARCHAR) ORDER BY j) FROM range(4000) AS r(j) WHERE j % 2 = 0)",
	} {
		from := fmt.Sprintf("FROM (SELECT i, %s AS l FROM range(300) AS r(i)) WHERE i %% 2 = 0", list)
		got := rowsOf(t, e, "SELECT CAST(count(*) AS VARCHAR) "+from+" AND echo(l) IS NOT DISTINCT FROM l")
		if want := rowsOf(t, e, "SELECT CAST(count(*) AS VARCHAR) "+from); got != want {
			t.Errorf("%s: %s of %s rows came back as they were", list, got, want)
		}
	}
}

package query

import "testing"

// TestFunctionsOfTheServersInsidesAreRefused: what PostgreSQL answers from its own transactions and log has no meaning here, and says so.
func TestFunctionsOfTheServersInsidesAreRefused(t *testing.T) {
	e := engine(t)
	for _, sql := range []string{"SELECT txid_current()", "SELECT pg_current_wal_lsn()", "SELECT pg_export_snapshot()"} {
		if got := ask(e, tables{}, sql, nil, nil); got.code != codeUnsupported {
			t.Errorf("%s: got %v, want %s", sql, got, codeUnsupported)
		}
	}
}

package pgtest

import (
	"os"
	"testing"
)

func TestServerRunsWithItsSettingsAndLeavesNothing(t *testing.T) {
	var dir string
	t.Run("while the test runs", func(t *testing.T) {
		s := Start(t, "wal_level=logical")
		dir = s.dir
		if got := s.Query(t, "SHOW wal_level")[0][0]; got != "logical" {
			t.Errorf("wal_level: got %s, want logical", got)
		}
		s.Exec(t, "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (NULL)")
		s.Restart(t, "max_connections=27")
		if got := s.Query(t, "SHOW max_connections")[0][0]; got != "27" {
			t.Errorf("max_connections: got %s, want 27", got)
		}
		if got := s.Query(t, "SELECT count(*), count(a) FROM t")[0]; got[0] != "2" || got[1] != "1" {
			t.Errorf("rows after a restart: got %v, want [2 1]", got)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("folder %s after the test: got %v, want it gone", dir, err)
	}
}

func TestBadSettingIsReportedWithTheServersLog(t *testing.T) {
	if _, err := start([]string{"no_such_setting=1"}); err == nil {
		t.Error("got no error for a setting that does not exist")
	} else {
		t.Log(err)
	}
}

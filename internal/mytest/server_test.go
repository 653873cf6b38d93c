package mytest

import (
	"os"
	"testing"
)

func TestServerRunsWithItsSettingsAndLeavesNothing(t *testing.T) {
	var dir string
	t.Run("while the test runs", func(t *testing.T) {
		s := Start(t, "max_connections=23")
		dir = s.dir
		if got := s.Query(t, "SELECT @@max_connections")[0][0]; got != "23" {
			t.Errorf("max_connections: got %s, want 23", got)
		}
		s.Exec(t, "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (NULL)")
		s.Restart(t, "max_connections=27")
		if got := s.Query(t, "SELECT @@max_connections, count(*), count(a) FROM t")[0]; got[0] != "27" || got[1] != "2" || got[2] != "1" {
			t.Errorf("after a restart: got %v, want [27 2 1]", got)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("folder %s after the test: got %v, want it gone", dir, err)
	}
}

func TestBadSettingIsReportedWithTheServersLog(t *testing.T) {
	if _, err := start([]string{"no_such_setting=1"}); err == nil {
		t.Error("got no error for a setting that does not exist")
	}
}

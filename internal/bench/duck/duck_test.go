package duck

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLoadOfAFile(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "it's.csv")
	if err := os.WriteFile(csv, []byte("1,2024-01-31 10:00:00.5+00,\"a, b\"\n2,,\n3,2024-02-01 00:00:00+00,c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ticks := time.Duration(0)
	clock := func() time.Duration { ticks++; return ticks }
	l := Load{
		File: filepath.Join(dir, "db"), CSV: csv, Threads: 1, Parquet: filepath.Join(dir, "rows.parquet"),
		Create: "CREATE TABLE t (id bigint, made timestamp with time zone, v text)",
	}
	got, err := l.Run(clock)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 3 || got.CPU != 1 || got.Wall <= 0 || got.FileBytes == 0 || got.ParquetSize == 0 || got.Version == "" {
		t.Errorf("got %+v, want 3 rows, one tick of CPU time, and sizes", got)
	}
}

func TestLoadSaysWhatDuckDBSays(t *testing.T) {
	dir := t.TempDir()
	l := Load{File: filepath.Join(dir, "db"), CSV: filepath.Join(dir, "none.csv"), Threads: 1, Create: "CREATE TABLE t (id bigint)"}
	if _, err := l.Run(func() time.Duration { return 0 }); err == nil {
		t.Error("a load of a missing file: got no error")
	}
}

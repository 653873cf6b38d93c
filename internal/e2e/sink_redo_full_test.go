package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"tailrace/file"
	"tailrace/internal/mytest"
	"tailrace/internal/pgtest"
)

// TestRedoLogWithoutRoomSaysSo: with a full disk under its redo log a sink waits, says why, and sends nothing that is not in the log; another sink goes on. With room it goes on,
// and the log has everything.
func TestRedoLogWithoutRoomSaysSo(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tailrace", disk, "tmpfs", 0, "size=300m"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	first, other, second := mytest.Start(t), pgtest.Start(t), pgtest.Start(t)
	s := start(t)
	c := s.connect(t)
	c.run("CREATE TABLE a (id int PRIMARY KEY, v text)")
	c.run("INSERT INTO a SELECT g, 'v' FROM generate_series(1, 1000) g")
	folder := filepath.Join(disk, "redo")
	c.run(fmt.Sprintf("CREATE SINK logged FROM a INTO MARIADB (URL '%s') WITH (REDO = 'file://%s')", first.URL(), folder))
	c.run(fmt.Sprintf("CREATE SINK plain FROM a INTO POSTGRES (URL '%s')", other.URL()))
	c.caughtUp("logged")
	c.caughtUp("plain")
	var st syscall.Statfs_t
	if err := syscall.Statfs(disk, &st); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, int64(st.Bavail)*st.Bsize-file.MinFree+1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		c.run(fmt.Sprintf("UPDATE a SET v = 'late %d'", i))
	}
	c.caughtUp("plain")
	sameRows(t, c, other, "SELECT * FROM a")
	c.state("logged", "degraded", "redo log", "no space left")
	wantRows(t, "rows of the target", rowsOf(t, first, "SELECT count(*) FROM a WHERE v = 'v'"), "1000")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.caughtUp("logged")
	sameRows(t, c, first, "SELECT * FROM a")
	c.redoFrontier("logged")
	if out, err := exec.Command(binary, "redo", "apply", "--from", folder, "--feed", "logged", "--to", second.URL()).CombinedOutput(); err != nil {
		t.Fatalf("redo apply: %v\n%s", err, out)
	}
	sameRows(t, c, second, "SELECT * FROM a")
}

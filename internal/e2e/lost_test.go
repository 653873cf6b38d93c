package e2e

import (
	"strings"
	"testing"

	"tailrace/internal/pgtest"
)

// TestAttachEndsWhenTheSourceIsLostOrPaused: neither will be live by waiting, so attach says what to do instead.
func TestAttachEndsWhenTheSourceIsLostOrPaused(t *testing.T) {
	src := pgtest.Start(t, "wal_level=logical")
	src.Exec(t, "CREATE TABLE a (id int PRIMARY KEY)")
	dir := t.TempDir()
	s := startIn(t, dir)
	if out, err := s.attach(t, src.URL()); err != nil {
		t.Fatalf("attach: %v\n%s", err, out)
	}
	s.connect(t).run("ALTER SOURCE postgres PAUSE")
	if out, err := s.attach(t, src.URL()); err == nil || !strings.Contains(out, "is paused") || !strings.Contains(out, `ALTER SOURCE "postgres" RESUME`) {
		t.Errorf("attach to a paused source: got error %v and\n%s\nwant that it is paused and how to resume it", err, out)
	}
	s.kill()
	src.Exec(t, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
	s = startIn(t, dir)
	s.connect(t).run("ALTER SOURCE postgres RESUME")
	out, err := s.attach(t, src.URL())
	if err == nil || !strings.Contains(out, "is gone") || !strings.Contains(out, "drop the source") {
		t.Errorf("attach to a lost source: got error %v and\n%s\nwant that its slot is gone and what mends it", err, out)
	}
	c := s.connect(t)
	wantRows(t, "state", c.run("SELECT state FROM mz_internal.mz_sources"), "lost")
}

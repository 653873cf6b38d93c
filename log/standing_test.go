package log_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// TestExportBeginsAnotherLog: a log begun from an export goes on at later times, with the sections as they were, and the sessions of the first ended.
func TestExportBeginsAnotherLog(t *testing.T) {
	ctx := context.Background()
	n := start(t, log.Options{Consensus: sim.NewConsensus(), Blob: sim.NewBlob(), Session: session(1)}, &node{})
	last := mustCommit(t, n, put(1, "a"))
	if _, err := n.TakeClaim(ctx, "work"); err != nil {
		t.Fatal(err)
	}
	exported := n.Export(&log.Checkpoint{Seq: n.Head(), Time: n.Newest(), Sections: map[string][]byte{"rows": []byte("a")}})
	n.close()
	before, err := log.StandingOf(exported)
	if err != nil || strings.Join(before.Open, " ") != session(1) || len(before.Claims) != 1 || before.Claims[0].Name != "work" {
		t.Fatalf("standing of the export: got %+v, %v", before, err)
	}
	consensus, blob := sim.NewConsensus(), sim.NewBlob()
	if err := log.Begin(ctx, consensus, blob, session(9), exported); err != nil {
		t.Fatal(err)
	}
	if err := log.Begin(ctx, consensus, blob, session(9), exported); !errors.Is(err, log.ErrBegun) {
		t.Errorf("begin twice: got %v, want ErrBegun", err)
	}
	second := start(t, log.Options{Consensus: consensus, Blob: blob, Session: session(2)}, &node{})
	if got := string(second.checkpoint.Sections["rows"]); got != "a" || second.checkpoint.Time != exported.Time {
		t.Errorf("checkpoint: got %q at %d, want a at %d", got, second.checkpoint.Time, exported.Time)
	}
	if at := mustCommit(t, second, put(1, "b")); at <= exported.Time || at <= last {
		t.Errorf("time of the next commit: got %d, want above %d", at, exported.Time)
	}
	if !second.Ended(session(1)) {
		t.Error("the first log's session goes on in the second")
	}
	if _, held := second.ClaimHolder("work"); held {
		t.Error("the first log's claim is held in the second")
	}
	second.close()
}

// TestInspectFindsWhatIsThere: extent, checkpoint, what follows it and the standing, and names what is damaged.
func TestInspectFindsWhatIsThere(t *testing.T) {
	ctx := context.Background()
	opts := log.Options{Consensus: sim.NewConsensus(), Blob: sim.NewBlob(), Session: session(1)}
	look := func(c tailrace.Consensus) (x *log.Extent, found, damage []string) {
		t.Helper()
		x, err := log.Inspect(ctx, c, opts.Blob, func(c *log.Checkpoint, e *log.Entry) error {
			switch {
			case e != nil && len(e.Txns) > 0:
				found = append(found, string(e.Txns[0].Records[0].Payload))
			case c != nil:
				found = append(found, "checkpoint")
			case e == nil:
				found = append(found, "none")
			}
			return nil
		}, func(err error) { damage = append(damage, err.Error()) })
		if err != nil {
			t.Fatal(err)
		}
		return x, found, damage
	}
	if x, found, damage := look(opts.Consensus); x.Head != 0 || len(damage) > 0 || strings.Join(found, " ") != "none" {
		t.Errorf("empty log: got %+v %q %q", x, found, damage)
	}
	n := start(t, opts, &node{})
	mustCommit(t, n, put(1, "before"))
	if err := n.WriteCheckpoint(ctx, &log.Checkpoint{Seq: n.Head(), Time: n.Newest(), Sections: map[string][]byte{}}); err != nil {
		t.Fatal(err)
	}
	last := mustCommit(t, n, put(1, "after"))
	n.close()
	x, found, damage := look(opts.Consensus)
	if len(damage) > 0 || !strings.HasPrefix(strings.Join(found, " "), "checkpoint after") {
		t.Errorf("got %q, damage %q; want the checkpoint and what is after it", found, damage)
	}
	if x.HeadTime < last || x.Oldest != 1 || x.Bytes == 0 || x.Transactions < 3 || strings.Join(x.Standing.Open, " ") != session(1) {
		t.Errorf("extent: got %+v", x)
	}
	broken := sim.NewConsensus()
	for from := tailrace.SeqNo(0); ; from++ {
		page, err := opts.Consensus.Scan(ctx, "log", from+1, 1)
		if err != nil || len(page) == 0 {
			break
		}
		if from == 1 {
			page[0].Value[len(page[0].Value)-1] ^= 1
		}
		if _, err := broken.CompareAndSet(ctx, "log", from, page[0].Value); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, damage := look(broken); len(damage) != 1 || !strings.Contains(damage[0], "entry 2: ") {
		t.Errorf("damage: got %q, want entry 2", damage)
	}
}

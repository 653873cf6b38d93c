package log_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tailrace"
	"tailrace/file"
	"tailrace/log"
	"tailrace/pebble"
)

// In the child that a crash test starts, these say where the data is and which session to open.
const (
	crashDir     = "TAILRACE_TEST_CRASH_DIR"
	crashSession = "TAILRACE_TEST_CRASH_SESSION"
)

// crashChild commits from eight goroutines, writes checkpoints, and prints each acknowledgement, until it is killed. In any other process
// it does nothing.
func crashChild() {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	life, err1 := strconv.ParseUint(os.Getenv(crashSession), 10, 64)
	opts, _, err2 := openFolder(dir, life)
	l, c, err3 := log.Open(context.Background(), opts)
	if err := errors.Join(err1, err2, err3); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var after tailrace.SeqNo
	if c != nil {
		after = c.Seq
	}
	go func() {
		for e, err := range l.Follow(context.Background(), after) {
			if err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			l.Applied(e)
			if e.Seq%16 == 0 {
				err = l.WriteCheckpoint(context.Background(), &log.Checkpoint{Seq: e.Seq, Time: e.Time})
			}
			if err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
		}
	}()
	for client := range 8 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d/%d/%d", life, client, i)
				t, err := l.Commit(context.Background(), log.Txn{ReadTime: l.Newest(), Records: []log.Record{put(1, id, uint64(client))}})
				if err != nil {
					continue // before the replay is done: a read time that is not remembered
				}
				fmt.Println("ack", id, t)
			}
		}()
	}
	fmt.Println("error", l.Run(context.Background()))
	os.Exit(1)
}

// openFolder opens the stores in a data folder. The store is to be closed.
func openFolder(dir string, life uint64) (log.Options, *pebble.Consensus, error) {
	c, err := pebble.Open(filepath.Join(dir, "log"), pebble.Options{})
	if err != nil {
		return log.Options{}, nil, err
	}
	b, err := file.Open(filepath.Join(dir, "blob"), file.Options{})
	return log.Options{Consensus: c, Blob: b, Session: session(life)}, c, err
}

func TestAcknowledgedCommitsSurviveKill(t *testing.T) {
	const seed = 17
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	acked := map[string]tailrace.Time{}
	rounds := uint64(6)
	if os.Getenv("TAILRACE_SEEDS") != "" {
		rounds = 100
	}
	for life := range rounds {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		child := exec.CommandContext(ctx, os.Args[0])
		child.Env = append(os.Environ(), crashDir+"="+dir, crashSession+"="+strconv.FormatUint(life+1, 10))
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 1 + rng.IntN(400); n > 0 && lines.Scan(); n-- {
			ack(t, acked, lines.Text())
		}
		_ = child.Process.Kill()
		for lines.Scan() { // what it printed before it died is acknowledged too
			ack(t, acked, lines.Text())
		}
		_ = child.Wait()
		cancel()
		lookForAcked(t, dir, life, acked)
	}
	if len(acked) < int(rounds) {
		t.Errorf("acknowledged: got %d in %d rounds, want more", len(acked), rounds)
	}
}

func ack(t *testing.T, acked map[string]tailrace.Time, line string) {
	t.Helper()
	words := strings.Fields(line)
	if len(words) != 3 || words[0] != "ack" { // a line is one write to a pipe, so that a kill does not cut it
		t.Fatalf("child: got %q, want an acknowledgement", line)
	}
	at, err := strconv.ParseUint(words[2], 10, 64)
	if err != nil {
		t.Fatalf("child: got %q, want a time", line)
	}
	acked[words[1]] = tailrace.Time(at)
}

// lookForAcked opens what a killed process left and looks for all that it acknowledged.
func lookForAcked(t *testing.T, dir string, life uint64, acked map[string]tailrace.Time) {
	t.Helper()
	opts, c, err := openFolder(dir, 1000+life)
	if err != nil {
		t.Fatalf("life %d: open what is left: got %v, want none", life, err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, _, err := log.Open(context.Background(), opts); err != nil {
		t.Fatalf("life %d: open log: got %v, want none", life, err)
	}
	entries := entriesOf(t, opts.Consensus)
	var outcomes []outcome
	for id, at := range acked {
		if at < entries[0].Time {
			continue // truncated below a checkpoint
		}
		outcomes = append(outcomes, outcome{id: id, time: at, txn: log.Txn{ReadTime: at, Reads: []log.Read{{}}}})
	}
	for _, wrong := range check(entries, outcomes, nil) {
		t.Errorf("life %d: %s", life, wrong)
	}
}

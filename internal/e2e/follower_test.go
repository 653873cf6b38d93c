package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// follower keeps a copy of a table through SUBSCRIBE WITH (PROGRESS) and survives the server: it resumes from its last progress. What it
// checks on the way: timestamps never go back, nothing arrives below a promised progress, no row's count goes below zero.
type follower struct {
	table string

	mu       sync.Mutex
	progress uint64 // everything below is in rows; 0 before the first
	rows     map[string]int
	pending  []change
	err      error
	resumes  int
}

type change struct {
	time uint64
	row  string
	diff int
}

// follow reads from url until the connection breaks or ctx is done.
func (f *follower) follow(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url+"?user=follower")
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	f.mu.Lock()
	f.pending = nil
	sql := fmt.Sprintf("COPY (SUBSCRIBE %s WITH (PROGRESS)) TO STDOUT", f.table)
	if f.rows != nil {
		sql = fmt.Sprintf("COPY (SUBSCRIBE %s WITH (PROGRESS, SNAPSHOT = false) AS OF %d) TO STDOUT", f.table, f.progress-1)
		f.resumes++
	}
	f.mu.Unlock()
	_, err = conn.PgConn().CopyTo(ctx, lines(f.line), sql)
	return err
}

// line takes one row of output in.
func (f *follower) line(raw []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	cells := strings.SplitN(string(raw), "\t", 4)
	t, err := strconv.ParseUint(cells[0], 10, 64)
	if err != nil {
		f.fail("line %q: %v", raw, err)
		return
	}
	if t < f.progress && f.rows != nil && !(f.resumes > 0 && cells[1] == "t" && t == f.progress-1) {
		f.fail("row %q below progress %d", raw, f.progress)
	}
	if cells[1] != "t" {
		diff, _ := strconv.Atoi(cells[2])
		if n := len(f.pending); n > 0 && f.pending[n-1].time > t {
			f.fail("time goes back from %d to %d", f.pending[n-1].time, t)
		}
		f.pending = append(f.pending, change{t, cells[3], diff})
		return
	}
	rest := f.pending[:0]
	for _, c := range f.pending {
		if c.time >= t {
			rest = append(rest, c)
			continue
		}
		if f.rows == nil {
			f.rows = map[string]int{}
		}
		if f.rows[c.row] += c.diff; f.rows[c.row] < 0 {
			f.fail("row %q has count %d at %d", c.row, f.rows[c.row], c.time)
		}
		if f.rows[c.row] == 0 {
			delete(f.rows, c.row)
		}
	}
	f.pending = rest
	if f.rows == nil && t > f.progress && f.progress > 0 {
		f.rows = map[string]int{} // the snapshot is complete, and empty
	}
	f.progress = max(f.progress, t)
}

func (f *follower) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// wait returns the rows once everything below t is in them.
func (f *follower) wait(t testing.TB, at uint64) map[string]int {
	t.Helper()
	for range 3000 {
		f.mu.Lock()
		rows, err, progress := f.rows, f.err, f.progress
		if err != nil {
			f.mu.Unlock()
			t.Fatalf("follower of %s: %v", f.table, err)
		}
		if progress > at {
			f.mu.Unlock()
			return rows
		}
		f.mu.Unlock()
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("follower of %s: no progress past %d in 30 s", f.table, at)
	return nil
}

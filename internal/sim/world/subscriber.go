package world

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// manner is how a subscriber reads.
type manner int

const (
	fast   manner = iota // all that comes, at once
	slow                 // with long pauses, in which windows move on
	dying                // its connection breaks again and again
	fickle               // begins anew with a snapshot again and again
	cursor               // FETCH n, in a transaction
	copied               // COPY (SUBSCRIBE ...) TO STDOUT
	manners
)

func (m manner) String() string {
	return [...]string{"fast", "slow", "dying", "fickle", "cursor", "copied"}[m]
}

// subscriber follows a table for as long as the world goes on, whatever becomes of connections and nodes, and keeps all it was told.
type subscriber struct {
	world    *World
	name     string
	table    string
	calls    string // what it calls the table
	manner   manner
	rng      *rand.Rand
	progress uint64 // of the newest progress row; 0: none after a snapshot
	segments []*segment
	until    func() uint64 // the progress after which it may end, 0 while unknown
	fresh    bool          // it begins anew at the next connection
	refusals []refusal
}

// refusal is a subscription that was told that it cannot begin, or go on.
type refusal struct {
	code     string
	said     string
	progress uint64 // of the subscriber then
	until    int    // entries in the log then
}

// segment is what one SUBSCRIBE brought.
type segment struct {
	asOf   uint64 // of a segment without a snapshot
	fresh  bool   // with a snapshot
	events []told
	end    string // why it ended
}

// told is an output row.
type told struct {
	time     uint64
	progress bool
	diff     int
	row      string
	until    int // entries in the log when it came
}

// errEnough ends a subscription that has all it wants.
var errEnough = errors.New("enough")

// follow subscribes, and again, until the end is reached or ctx is done.
func (s *subscriber) follow(ctx context.Context) {
	sleep(ctx, upTo(s.rng, time.Second))
	for ctx.Err() == nil && !s.done() {
		l := s.world.someNode(ctx, s.rng)
		if l == nil {
			return
		}
		conn, err := connect(ctx, l, s.name)
		if err != nil {
			s.world.surprising(l, err)
			sleep(ctx, upTo(s.rng, 400*time.Millisecond))
			continue
		}
		var broken *time.Timer
		if s.manner == dying {
			broken = time.AfterFunc(upTo(s.rng, 9*time.Second), conn.drop)
		}
		err = s.read(ctx, conn)
		if broken != nil {
			broken.Stop()
		}
		conn.drop()
		s.ended(l, err)
		away := 300 * time.Millisecond
		if s.rng.IntN(8) == 0 && s.until() == 0 {
			away = 25 * time.Second // windows and short history move on
		}
		sleep(ctx, upTo(s.rng, away))
	}
}

// done says whether the subscriber has all it waited for.
func (s *subscriber) done() bool {
	u := s.until()
	return u > 0 && s.progress > u
}

// ended looks at why a subscription ended.
func (s *subscriber) ended(l *life, err error) {
	if n := len(s.segments); n > 0 && err != nil && s.segments[n-1].end == "" {
		s.segments[n-1].end = err.Error()
	}
	s.world.log.Debug(s.name, "error", err)
	switch code := codeOf(err); code {
	case "42P01":
		if s.table == renamed {
			s.calls = otherName(s.calls)
			return
		}
		s.fresh = true
	case "0A000", "55000": // others took the table's place, or it is not there yet
		s.fresh = true
	case "42704", "22023", "53200": // the table is dropped; what was to be read is gone; what was being read is gone
		s.refusals = append(s.refusals, refusal{code, err.Error(), s.progress, s.world.disk.length()})
		s.world.count("refused "+code, 1)
		s.fresh = true
		return
	}
	if !errors.Is(err, errEnough) {
		s.world.surprising(l, err)
	}
}

// read runs one subscription on conn.
func (s *subscriber) read(ctx context.Context, conn *client) error {
	stop := context.AfterFunc(ctx, conn.drop)
	defer stop()
	seg := &segment{fresh: s.fresh || s.progress == 0, asOf: s.progress - 1}
	sql := fmt.Sprintf("SUBSCRIBE %s WITH (PROGRESS, SNAPSHOT = false) AS OF %d", s.calls, seg.asOf)
	if seg.fresh {
		sql = fmt.Sprintf("SUBSCRIBE %s WITH (PROGRESS)", s.calls)
	}
	s.segments = append(s.segments, seg)
	take := func(values [][]byte) error {
		defer s.dawdle()
		return s.take(seg, values)
	}
	switch s.manner {
	case cursor:
		return s.fetch(conn, sql, take)
	case copied:
		sql = "COPY (" + sql + ") TO STDOUT"
	}
	return conn.stream(sql, take)
}

// fetch reads by FETCH.
func (s *subscriber) fetch(conn *client, sql string, take func([][]byte) error) error {
	if _, err := conn.ask("BEGIN; DECLARE c CURSOR FOR " + sql); err != nil {
		return err
	}
	for {
		err := conn.stream(fmt.Sprintf("FETCH %d c WITH (TIMEOUT = '%ds')", 1+s.rng.IntN(30), 1+s.rng.IntN(4)), take)
		if err != nil {
			return err
		}
	}
}

// dawdle is a pause between two rows.
func (s *subscriber) dawdle() {
	if s.manner == slow && s.until() == 0 && s.rng.IntN(25) == 0 {
		sleep(context.Background(), upTo(s.rng, 20*time.Second))
	}
}

// take notes an output row. errEnough: no more is wanted.
func (s *subscriber) take(seg *segment, values [][]byte) error {
	at, err := strconv.ParseUint(string(values[0]), 10, 64)
	if err != nil {
		return fmt.Errorf("time of an output row: %w", err)
	}
	e := told{time: at, progress: string(values[1]) == "t", until: s.world.disk.length()}
	if !e.progress {
		if e.diff, err = strconv.Atoi(string(values[2])); err != nil {
			return fmt.Errorf("diff of an output row: %w", err)
		}
		data := values[3:]
		if s.table == altered {
			data = data[:2] // what stays
		}
		e.row = textOf(data)
	}
	seg.events = append(seg.events, e)
	s.world.log.Debug(s.name, "time", at, "progress", e.progress, "diff", e.diff, "row", e.row)
	if !e.progress || seg.fresh && len(seg.events) == 1 {
		return nil
	}
	if s.fresh && seg.fresh {
		s.fresh = false
	}
	s.progress = max(s.progress, at)
	if s.done() {
		return errEnough
	}
	if s.manner == fickle && s.rng.IntN(12) == 0 && s.until() == 0 {
		s.fresh = true
		return errEnough
	}
	return nil
}

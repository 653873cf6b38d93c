package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// writer sends transactions, one after the other, over connections to whatever node there is.
type writer struct {
	world  *World
	number int
	rng    *rand.Rand
	sent   int
	conn   *client
	name   string // of the renamed table, as far as it knows
}

// write goes on until ctx is done.
func (w *writer) write(ctx context.Context) {
	defer func() {
		if w.conn != nil {
			w.conn.drop()
		}
	}()
	sleep(ctx, w.pause())
	for ctx.Err() == nil {
		if w.conn == nil || w.conn.closed {
			if w.conn != nil {
				w.conn.drop()
			}
			if w.conn = w.world.session(ctx, fmt.Sprint("writer", w.number), w.rng); w.conn == nil {
				continue
			}
		}
		for w.world.resting.Load() && ctx.Err() == nil {
			sleep(ctx, upTo(w.rng, time.Second))
		}
		in := w.intent()
		w.world.begin(in)
		err := w.send(in)
		w.world.end(in, w.conn.life, err)
		sleep(ctx, w.pause())
	}
}

// pause is how long the writer waits before its next transaction: mostly little, sometimes so long that windows are left.
func (w *writer) pause() time.Duration {
	if w.rng.IntN(60) == 0 {
		return 5*time.Second + upTo(w.rng, 10*time.Second)
	}
	return upTo(w.rng, 500*time.Millisecond)
}

// keys is how many keys the keyed tables have: few, so that writers meet.
const keys = 24

// intent makes up a transaction.
func (w *writer) intent() *intent {
	w.sent++
	in := &intent{mark: fmt.Sprintf("w%d.%d", w.number, w.sent)}
	one := func(of ...verb) *op {
		return &op{
			verb: of[w.rng.IntN(len(of))], id: w.rng.IntN(keys), mark: in.mark, name: w.name, table: []string{dropped, renamed, brief, brief}[w.rng.IntN(4)],
		}
	}
	switch n := w.rng.IntN(100); {
	case n < 45:
		in.ops = []*op{one(put, upsert, bump, bump, mark, putAltered, set, set)}
		return in
	case n < 52:
		rows := 10 + w.rng.IntN(120)
		if w.rng.IntN(12) == 0 {
			rows *= 12
		}
		in.ops = []*op{{verb: pour, mark: in.mark, rows: rows}}
	case n < 58:
		in.ops = []*op{one(widen, narrow, empty, replace, rename)}
	default:
		for range 1 + w.rng.IntN(5) {
			in.ops = append(in.ops, one(put, upsert, bump, remove, look, look, undone, tried, kept, offer, returning, putAltered, set, set))
		}
	}
	in.block = true
	in.ops = append(in.ops, one(mark))
	return in
}

// send runs the transaction and notes what was said.
func (w *writer) send(in *intent) error {
	if !in.block {
		in.sent(w.world)
		return w.run(in.ops[0])
	}
	if _, err := w.conn.ask("BEGIN"); err != nil {
		return err
	}
	for _, o := range in.ops {
		if err := w.run(o); err != nil {
			if codeOf(err) != "" {
				_, _ = w.conn.ask("ROLLBACK") // if the connection is gone, the next transaction finds out
			}
			return err
		}
	}
	if w.rng.IntN(20) == 0 {
		_, err := w.conn.ask("ROLLBACK")
		in.why = "rolled back"
		return err
	}
	in.sent(w.world)
	said, err := w.conn.ask("COMMIT")
	if err == nil && said != "COMMIT" {
		w.world.fail("%s: COMMIT was answered %q", in.mark, said)
	}
	return err
}

// run runs one statement.
func (w *writer) run(o *op) (err error) {
	switch o.verb {
	case pour:
		o.said, err = w.conn.pour(o.sql(), o.data())
	case tried:
		if o.said, err = w.conn.ask(o.sql()); codeOf(err) == "23505" {
			o.said = duplicate
			_, err = w.conn.ask("ROLLBACK TO s")
		}
	default:
		o.said, err = w.conn.ask(o.sql())
	}
	if (o.verb == rename || o.verb == set && o.table == renamed) && codeOf(err) == "42P01" {
		w.name = otherName(o.name)
	}
	return err
}

// sent notes that what commits the transaction is sent now.
func (in *intent) sent(w *World) {
	in.outcome = unknown
	in.began = w.count64()
}

// settle notes what the writer was told.
func (in *intent) settle(err error) {
	switch {
	case in.outcome == unsent && err != nil:
		in.why = err.Error()
	case in.outcome == unsent:
	case err == nil:
		in.outcome = committed
	case codeOf(err) == "" || codeOf(err) == "08007":
		if in.why = err.Error(); !in.block {
			in.ops[0].said = unheard
		}
	default:
		in.outcome, in.why = refused, err.Error()
	}
}

package world

import (
	"context"
	"math/rand/v2"
	"time"
)

// reading is a strict read of one key: what was answered must have been so at a moment between the question and the answer.
type reading struct {
	op    *op
	began uint64 // by the world's count of events
	ended uint64
	until int // entries in the log when the answer came
}

// reader reads keys of table k over connections to whatever node there is, until ctx is done.
func (w *World) reader(ctx context.Context, rng *rand.Rand) {
	var conn *client
	defer func() {
		if conn != nil {
			conn.drop()
		}
	}()
	sleep(ctx, upTo(rng, time.Second))
	for ctx.Err() == nil {
		if conn == nil || conn.closed || rng.IntN(10) == 0 {
			if conn != nil {
				conn.drop()
			}
			if conn = w.session(ctx, "reader", rng); conn == nil {
				continue
			}
		}
		r := &reading{op: &op{verb: look, id: rng.IntN(keys)}, began: w.count64()}
		said, err := conn.ask(r.op.sql())
		if err == nil {
			r.op.said, r.ended, r.until = said, w.count64(), w.disk.length()
			w.read(r)
		}
		w.surprising(conn.life, err)
		sleep(ctx, upTo(rng, 800*time.Millisecond))
	}
}

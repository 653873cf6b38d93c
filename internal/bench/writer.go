package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// writerConns is how many connections a writer has. Each answers one statement after the other, so that this many commits are under way at once: 1,000 a second
// when each takes a quarter of one, as they do on few cores beside thousands of clients. With 64 it was the writer that was too slow then, not the server.
const writerConns = 256

// writer sends statements at their due moments, whether or not earlier ones have been answered: a server that falls behind is late, and is not asked for less.
//
//	due    0    1    2    3 ms
//	sent   0    1    2    3         each on the next connection
//	done        0         1    2 3  a commit that takes long delays no other statement than those of its connection
type writer struct {
	conns []*stormClient
}

// written is what came of it.
type written struct {
	rows int
	took time.Duration // from the first answer to the last, and no less than the time that the rate gives
}

func (w written) perSecond() float64 { return float64(w.rows) / w.took.Seconds() }

// newWriter connects. The caller closes the writer.
func newWriter(address string) (*writer, error) {
	w := &writer{}
	job := &stormJob{Address: address}
	for i := range writerConns {
		c := newStormClient(job, i)
		w.conns = append(w.conns, c)
		if err := c.connect(); err != nil {
			w.close()
			return nil, fmt.Errorf("connect a writer: %w", err)
		}
	}
	return w, nil
}

func (w *writer) close() {
	for _, c := range w.conns {
		c.close()
	}
}

// run sends so many statements a second, rows in all or, with 0, until ctx is done, and waits for the answers. A writer runs once.
func (w *writer) run(ctx context.Context, rate, rows int, statement func(i int, due time.Time) string) (written, error) {
	got := make([]answers, len(w.conns))
	var readers sync.WaitGroup
	for i, c := range w.conns {
		readers.Go(func() { got[i] = c.answers() })
	}
	sent, err := paced(ctx, rate, rows, func(i int, due time.Time) error { return w.conns[i%len(w.conns)].query(statement(i, due)) })
	for _, c := range w.conns {
		err = errors.Join(err, c.terminate())
	}
	if err != nil {
		w.close() // so that nobody waits for answers
	}
	readers.Wait()
	var all answers
	for _, a := range got {
		all.add(a)
	}
	if err = errors.Join(err, all.err); err == nil && all.n < sent {
		err = fmt.Errorf("the server closed with %d of %d statements unanswered", sent-all.n, sent)
	}
	return written{all.n, max(all.last.Sub(all.first), time.Duration(all.n)*time.Second/time.Duration(rate))}, err
}

// answers is how many statements were answered, and when the first and the last.
type answers struct {
	n           int
	first, last time.Time
	err         error
}

func (a *answers) add(b answers) {
	if b.n > 0 && (a.n == 0 || b.first.Before(a.first)) {
		a.first = b.first
	}
	if b.last.After(a.last) {
		a.last = b.last
	}
	a.n += b.n
	a.err = errors.Join(a.err, b.err)
}

// answers reads until the server closes.
func (c *stormClient) answers() (a answers) {
	for {
		kind, _, err := c.next()
		switch {
		case errors.Is(err, io.EOF):
			return a
		case err != nil:
			a.err = fmt.Errorf("write a row: %w", err)
			return a
		case kind == 'Z':
			now := time.Now()
			a.add(answers{n: 1, first: now, last: now})
		}
	}
}

// paced calls send at the due moments of rate a second, rows times or, with 0, until ctx is done, which is an error only of the first kind. It returns how often it did.
func paced(ctx context.Context, rate, rows int, send func(i int, due time.Time) error) (sent int, err error) {
	began := time.Now()
	for i := 0; rows == 0 || i < rows; i++ {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			if rows == 0 {
				return i, nil
			}
			return i, ctx.Err()
		}
		if err := send(i, due); err != nil {
			return i, err
		}
	}
	return rows, nil
}

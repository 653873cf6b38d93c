package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestWriterDoesNotWaitForAnswers: the server answers nothing until it has all statements, two for each connection.
func TestWriterDoesNotWaitForAnswers(t *testing.T) {
	const rows = 2 * writerConns
	var all sync.WaitGroup
	all.Add(rows)
	address := fakePostgres(t, func(c *fakeConn) {
		n := 0
		for c.query() != "" {
			all.Done()
			if n++; n == 2 {
				all.Wait()
				c.send('Z', "I")
				c.send('Z', "I")
			}
		}
	})
	w, err := newWriter(address)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	got, err := w.run(context.Background(), 10_000, rows, func(i int, _ time.Time) string { return fmt.Sprint("INSERT ", i) })
	if err != nil || got.rows != rows {
		t.Errorf("got %d rows, %v; want %d", got.rows, err, rows)
	}
	if got.perSecond() > 10_000 {
		t.Errorf("got %v rows a second, more than were asked for", got.perSecond())
	}
}

func TestWriterTellsOfStatementsWithoutAnswer(t *testing.T) {
	address := fakePostgres(t, func(c *fakeConn) {
		c.query()
		c.query() // there is none: the end, before any answer
	})
	w, err := newWriter(address)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if _, err := w.run(context.Background(), 10_000, writerConns, func(int, time.Time) string { return "INSERT" }); err == nil {
		t.Error("no error of statements that were never answered")
	}
}

func TestPacedSendsAtDueMoments(t *testing.T) {
	began, last := time.Now(), time.Time{}
	sent, err := paced(context.Background(), 1000, 20, func(i int, due time.Time) error {
		if now := time.Now(); now.Before(due) {
			t.Errorf("row %d was sent %v before it was due", i, due.Sub(now))
		}
		last = due
		return nil
	})
	if err != nil || sent != 20 || last.Sub(began) < 19*time.Millisecond {
		t.Errorf("got %d rows, the last due after %v, %v; want 20 and 19 ms", sent, last.Sub(began), err)
	}
}

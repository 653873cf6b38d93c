package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rowWriters are the connections that commit while rows are timed on their way to a subscriber.
const rowWriters = 4

// rows times single-row transactions, b.RowRate a second, from the moment their client sends them to the moment a SUBSCRIBE's client has the row.
// Only a target that has SUBSCRIBE is measured.
func (b Base) rows(ctx context.Context, t *Target, r *Report) error {
	if !t.Subscribe || b.RowRate <= 0 {
		return nil
	}
	if err := t.exec(ctx, "DROP TABLE IF EXISTS bench_row", "CREATE TABLE bench_row (id bigint PRIMARY KEY, v text)"); err != nil {
		return err
	}
	total := int(b.Seconds.Seconds() * float64(b.RowRate))
	ctx, cancel := context.WithTimeout(ctx, b.Seconds+time.Minute)
	defer cancel()
	following, leave := context.WithCancel(ctx)
	defer leave()
	arrived := make([]time.Time, total)
	pr, pw := io.Pipe()
	var readers sync.WaitGroup
	var followErr, readErr error
	readers.Go(func() {
		followErr = t.subscribe(following, pw)
		pw.CloseWithError(io.ErrUnexpectedEOF)
	})
	readers.Go(func() {
		readErr = arrivals(pr, arrived)
		leave() // all rows are here, or none will be
	})
	sent, err := b.sendRows(ctx, t, total)
	if err != nil {
		leave()
	}
	readers.Wait()
	switch {
	case err != nil:
		return err
	case readErr != nil:
		return fmt.Errorf("%s: rows of SUBSCRIBE: %w: %w", t.Name, readErr, followErr)
	}
	late := make([]time.Duration, total)
	for i := range late {
		late[i] = arrived[i].Sub(sent[i])
	}
	slices.Sort(late)
	r.add("row_p50_ms", t.Name, late[total/2].Seconds()*1e3, false)
	r.add("row_p99_ms", t.Name, late[total*99/100].Seconds()*1e3, false)
	return nil
}

// subscribe copies what SUBSCRIBE bench_row prints to w until w fails.
func (t *Target) subscribe(ctx context.Context, w io.Writer) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	_, err = c.PgConn().CopyTo(ctx, w, "COPY (SUBSCRIBE bench_row) TO STDOUT")
	return err
}

// arrivals notes when each row came; a line is its time, its diff, its id, and so on.
func arrivals(from io.Reader, arrived []time.Time) error {
	buf := make([]byte, 64<<10)
	var rest string
	for left := len(arrived); left > 0; {
		n, err := from.Read(buf)
		now := time.Now()
		lines := strings.Split(rest+string(buf[:n]), "\n")
		rest = lines[len(lines)-1]
		for _, line := range lines[:len(lines)-1] {
			fields := strings.Split(line, "\t")
			id, bad := strconv.Atoi(fields[min(2, len(fields)-1)])
			if bad != nil || id < 0 || id >= len(arrived) {
				return fmt.Errorf("a line that is no row: %q", line)
			}
			arrived[id] = now
			left--
		}
		if err != nil && left > 0 {
			return err
		}
	}
	return nil
}

// sendRows commits total rows at the rate, and tells when each was sent.
func (b Base) sendRows(ctx context.Context, t *Target, total int) ([]time.Time, error) {
	sent, errs := make([]time.Time, total), make([]error, rowWriters)
	var writers sync.WaitGroup
	began := time.Now()
	for w := range rowWriters {
		writers.Go(func() {
			c, err := t.connect(ctx)
			if err != nil {
				errs[w] = err
				return
			}
			defer c.Close(context.WithoutCancel(ctx))
			for i := w; i < total; i += rowWriters {
				<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(b.RowRate))))
				sent[i] = time.Now()
				if _, err := c.Exec(ctx, "INSERT INTO bench_row VALUES ($1, 'some text')", i); err != nil {
					errs[w] = fmt.Errorf("%s: insert: %w", t.Name, err)
					return
				}
			}
		})
	}
	writers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sent, nil
}

package bench

import (
	"context"
	"errors"
	"io"
	"os"

	"tailrace"
	"tailrace/format"
	"tailrace/internal/bench/shape"
	"tailrace/pool"
	"tailrace/stripe"
)

// parsesAhead is how many morsels are cut and not taken yet: as in a COPY with two workers.
const parsesAhead = 4

// reading turns the file into page groups as COPY does: morsels are cut on the caller's goroutine and parsed as tasks of its flight.
type reading struct {
	split  *format.CopySplitter
	parser *format.CopyParser
	ids    []tailrace.ColumnID
	flight *pool.Flight
	spare  []*tailrace.Batch
	memory func() *tailrace.Batch // of a batch that nobody needs any more, nil for none
	ahead  []*parsing             // in order
	rows   int64                  // of morsels that were cut
}

// parsing is a morsel and what becomes of it.
type parsing struct {
	task *pool.Task
	out  *tailrace.Batch
}

// read gives the page groups of the file to take, in order. The caller closes the flight.
func (s *source) read(f *pool.Flight, take func(r *reading, b *tailrace.Batch) error) (err error) {
	in, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer in.Close()
	return newReading(s.Shape, f).read(in, take)
}

func (r *reading) read(in io.Reader, take func(r *reading, b *tailrace.Batch) error) (err error) {
	defer r.split.Close()
	for {
		m, err := r.split.Next()
		switch {
		case m != nil:
			r.parse(m)
			if len(r.ahead) >= parsesAhead {
				err = r.hand(take)
			}
		case errors.Is(err, io.EOF):
			for err = error(nil); err == nil && len(r.ahead) > 0; {
				err = r.hand(take)
			}
			return err
		case err == nil:
			err = r.fill(in)
		}
		if err != nil {
			return err
		}
	}
}

func newReading(s shape.Shape, f *pool.Flight) *reading {
	o := format.CopyOptions{Layout: format.CopyCSV, Table: loadTable}
	r := &reading{flight: f}
	r.memory = r.pop
	var types []tailrace.Type
	for _, c := range s.Schema.Fields {
		o.Columns = append(o.Columns, c.Name)
		types = append(types, c.Type)
		r.ids = append(r.ids, c.ID)
	}
	r.split, r.parser = format.NewCopySplitter(o, types), format.NewCopyParser(o, types, nil)
	return r
}

// fill reads on.
func (r *reading) fill(in io.Reader) error {
	n, err := in.Read(r.split.Room())
	r.split.Fill(n)
	if errors.Is(err, io.EOF) {
		r.split.Finish()
		return nil
	}
	return err
}

// parse queues the parsing of a morsel, behind the pages of the stripes before it.
func (r *reading) parse(m *format.Morsel) {
	p := &parsing{out: r.memory()}
	rank := r.rows / stripe.StripeRows
	r.rows += int64(m.Rows)
	p.task = r.flight.Go(rank, int64(m.Bytes), func() (err error) {
		defer m.Release()
		p.out, err = r.parser.Parse(m, p.out)
		return err
	})
	r.ahead = append(r.ahead, p)
}

// hand waits for the oldest morsel and gives its rows away.
func (r *reading) hand(take func(*reading, *tailrace.Batch) error) error {
	p := r.ahead[0]
	r.ahead = r.ahead[1:]
	if err := p.task.Wait(); err != nil {
		return err
	}
	p.out.IDs = r.ids
	return take(r, p.out)
}

// pop returns a batch that free took back, nil for none.
func (r *reading) pop() *tailrace.Batch {
	n := len(r.spare)
	if n == 0 {
		return nil
	}
	b := r.spare[n-1]
	r.spare = r.spare[:n-1]
	return b
}

// free takes a batch back whose memory the next morsel may have.
func (r *reading) free(b *tailrace.Batch) { r.spare = append(r.spare, b) }

// all reads the whole file into memory.
func (s *source) all(ctx context.Context, p *pool.Pool) (out []*tailrace.Batch, err error) {
	f := p.Flight(ctx, 0)
	defer f.Close()
	err = s.read(f, func(_ *reading, b *tailrace.Batch) error {
		out = append(out, b)
		return nil
	})
	return out, err
}

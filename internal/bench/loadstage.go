package bench

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"tailrace"
	"tailrace/pool"
	"tailrace/stripe"
)

// running runs a pool with a worker for each core while work is under way.
func running(ctx context.Context, work func(p *pool.Pool) error) error {
	p := pool.New(0)
	ctx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	workers.Go(func() { _ = p.Run(ctx) }) // it says that ctx ended
	defer workers.Wait()
	defer stop()
	return work(p)
}

// stages measures the parts of a load in this process, without a server: parsing alone, encoding alone, the whole path, and reading back.
func (l *loading) stages(ctx context.Context, s *source) error {
	return running(ctx, func(p *pool.Pool) error {
		for range l.Runs {
			if err := l.parseStage(ctx, s); err != nil {
				return err
			}
			if err := l.wholeStage(ctx, s, p); err != nil {
				return err
			}
		}
		if s.Shuffled() {
			return nil // a stripe's rows are sorted: by shard, of which the whole path is
		}
		batches, err := s.all(ctx, p)
		if err != nil {
			return err
		}
		for range l.Runs {
			if err := l.encodeStage(ctx, s, batches, p); err != nil {
				return err
			}
		}
		if err := l.identical(ctx, s, batches, p); err != nil {
			return err
		}
		l.say("%s: parse %.2f s, encode %.2f s, whole path %.2f s, with all cores %.2f s, decode %.2f GB/s", s.Name,
			l.r.median("parse_"+s.Name+"_cpu_s", ours), l.r.median("encode_"+s.Name+"_cpu_s", ours), l.r.median("path_"+s.Name+"_serial_wall_s", ours),
			l.r.median("path_"+s.Name+"_wall_s", ours), l.r.median("scan_"+s.Name+"_gb_per_s", ours))
		return l.overheads(ctx, s, batches, p)
	})
}

// file files what a piece of work took.
func (l *loading) file(name string, t took) {
	l.r.add(name+"_wall_s", ours, t.wall.Seconds(), false)
	l.r.add(name+"_cpu_s", ours, t.cpu.Seconds(), false)
}

func (l *loading) parseStage(ctx context.Context, s *source) error {
	t, err := timed(func() error {
		f := (*pool.Pool)(nil).Flight(ctx, 1)
		return s.read(f, func(r *reading, b *tailrace.Batch) error {
			r.free(b)
			return nil
		})
	})
	l.file("parse_"+s.Name, t)
	return err
}

// wholeStage takes the whole path on one core and on all, and compares what came out.
func (l *loading) wholeStage(ctx context.Context, s *source, p *pool.Pool) error {
	var serial, parallel string
	t, err := timed(func() (err error) {
		serial, err = s.whole(ctx, p, 1)
		return err
	})
	if err != nil {
		return err
	}
	l.file("path_"+s.Name+"_serial", t)
	l.same(s.Name+" whole path", serial)
	before := p.Stats().Helped
	if t, err = timed(func() (err error) {
		parallel, err = s.whole(ctx, p, runtime.GOMAXPROCS(0))
		return err
	}); err != nil {
		return err
	}
	l.file("path_"+s.Name, t)
	l.r.add("path_"+s.Name+"_helped", ours, float64(p.Stats().Helped-before), true)
	l.same(s.Name+" whole path", parallel)
	return nil
}

// encodeStage makes parts of the rows on one core and on all, and reads them back.
func (l *loading) encodeStage(ctx context.Context, s *source, batches []*tailrace.Batch, p *pool.Pool) error {
	var parts [][]byte
	t, err := timed(func() (err error) {
		parts, err = encode(s.Schema, batches, p.Flight(ctx, 1), stripe.Options{})
		return err
	})
	if err != nil {
		return err
	}
	l.file("encode_"+s.Name+"_serial", t)
	if t, err = timed(func() (err error) {
		parts, err = encode(s.Schema, batches, p.Flight(ctx, 0), stripe.Options{})
		return err
	}); err != nil {
		return err
	}
	l.file("encode_"+s.Name, t)
	var bytes int64
	for _, raw := range parts {
		bytes += int64(len(raw))
	}
	l.r.add("parts_"+s.Name+"_bytes", ours, float64(bytes), false)
	return l.scans(ctx, s, parts)
}

// scans reads all columns and then two, the first and the one in the middle.
func (l *loading) scans(ctx context.Context, s *source, parts [][]byte) error {
	ids := make([]tailrace.ColumnID, 0, len(s.Schema.Fields))
	for _, c := range s.Schema.Fields {
		ids = append(ids, c.ID)
	}
	var size int64
	all, err := timed(func() (err error) {
		size, err = scan(ctx, parts, ids)
		return err
	})
	if err != nil {
		return err
	}
	l.file("scan_"+s.Name, all)
	l.r.add("scan_"+s.Name+"_gb_per_s", ours, float64(size)/1e9/all.cpu.Seconds(), true)
	two, err := timed(func() error {
		_, err := scan(ctx, parts, []tailrace.ColumnID{ids[0], ids[len(ids)/2]})
		return err
	})
	l.file("scan_"+s.Name+"_two_columns", two)
	return err
}

// scan reads columns of the parts and returns the bytes of the values as they are in memory.
func scan(ctx context.Context, parts [][]byte, ids []tailrace.ColumnID) (size int64, err error) {
	readers, err := opened(ctx, parts)
	if err != nil {
		return 0, err
	}
	for _, r := range readers {
		walk := r.Scan(0, ids)
		for {
			b, err := walk.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return 0, err
			}
			size += int64(b.Size())
			walk.Recycle()
		}
	}
	return size, nil
}

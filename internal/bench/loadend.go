package bench

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"

	"tailrace/pool"
)

// scaled are the shapes whose speed-up is measured, and with how many times the rows.
var scaled = []string{"wide", "text"}

const scaledTimes = 4

// scaling measures how much faster the whole path is with two workers than with one, on larger files.
func (l *loading) scaling(ctx context.Context) error {
	for _, name := range scaled {
		if !slices.Contains(l.names(), name) || runtime.GOMAXPROCS(0) < 2 {
			continue
		}
		s, err := l.write(name, scaledTimes)
		if err != nil {
			return err
		}
		err = running(ctx, func(p *pool.Pool) error {
			for range l.Runs {
				if err := l.scale(ctx, s, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		l.say("%s x %d: 1 worker %.2f s, 2 workers %.2f s", name, scaledTimes, l.r.median("scale_"+name+"_1_worker_wall_s", ours), l.r.median("scale_"+name+"_2_workers_wall_s", ours))
		if err := os.Remove(s.path); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) scale(ctx context.Context, s *source, p *pool.Pool) error {
	for workers, name := range []string{1: "1_worker", 2: "2_workers"} {
		if name == "" {
			continue
		}
		before := p.Stats().Helped
		var sum string
		t, err := timed(func() (err error) {
			sum, err = s.whole(ctx, p, workers)
			return err
		})
		if err != nil {
			return err
		}
		l.file("scale_"+s.Name+"_"+name, t)
		if workers > 1 {
			l.r.add("scale_"+s.Name+"_helped", ours, float64(p.Stats().Helped-before), true)
		}
		l.same(s.Name+" x 4", sum)
	}
	return nil
}

// The goals. A ratio is ours divided by the other's.
const (
	goalSpeedup      = 1.7
	goalOffOverhead  = 1.05
	goalVsDuckDB     = 0.7
	goalWidePostgres = 0.4
	goalTextPostgres = 0.7
	goalSize         = 1.0
	goalDecode       = 3.0
	// goalSmallFlush leaves two percent for noise: a thousand rows are encoded by the same code with and without workers.
	goalSmallFlush = 1.02
)

// conclude derives the results from the figures.
func (l *loading) conclude() {
	r := l.r
	byShape := map[string]any{}
	for _, name := range l.names() {
		byShape[name] = l.shapeResults(name)
	}
	r.set("speedup", extreme(slices.Min[[]float64], byShape, "speedup"))
	r.set("identical", len(l.differ) == 0)
	r.set("differ", l.differ)
	r.set("off_overhead", extreme(slices.Max[[]float64], byShape, "off_overhead"))
	r.set("small_flush", extreme(slices.Max[[]float64], byShape, "small_flush"))
	for _, peer := range []string{"vs_duckdb", "vs_duckdb_1_core", "vs_postgres", "size_vs_parquet", "size_vs_duckdb"} {
		r.set(peer, extreme(slices.Max[[]float64], byShape, peer))
	}
	for _, name := range scaled {
		r.set("vs_postgres_"+name, r.vs("copy_"+name+"_wall_s", ours, postgres))
	}
	r.set("decode_gb_s", over(r.median("scan_wide_gb_per_s", ours), 1))
	r.set("helped", r.total("_helped"))
	r.set("starved_helped", r.total("_starved_helped"))
	r.set("shapes", byShape)
	r.atLeast("speedup", goalSpeedup)
	r.isTrue("identical")
	r.atMost("off_overhead", goalOffOverhead)
	r.atMost("vs_duckdb", goalVsDuckDB)
	r.atMost("vs_postgres_wide", goalWidePostgres)
	r.atMost("vs_postgres_text", goalTextPostgres)
	r.atMost("size_vs_parquet", goalSize)
	r.atMost("size_vs_duckdb", goalSize)
	r.atMost("small_flush", goalSmallFlush)
	r.atLeast("decode_gb_s", goalDecode)
}

// shapeResults are the ratios of one shape.
func (l *loading) shapeResults(name string) map[string]any {
	r, all, one := l.r, "copy_"+name, copyName(name, 1)
	return map[string]any{
		"speedup":          over(r.median("scale_"+name+"_1_worker_wall_s", ours), r.median("scale_"+name+"_2_workers_wall_s", ours)),
		"off_overhead":     over(r.median("off_overhead_"+name+"_cpu", ours), 1),
		"small_flush":      over(r.median("small_flush_"+name+"_wall", ours), 1),
		"vs_duckdb":        r.vs(all+"_wall_s", ours, duckdb),
		"vs_duckdb_1_core": r.vs(one+"_wall_s", ours, duckdb),
		"vs_duckdb_cpu":    r.vs(all+"_cpu_s", ours, duckdb),
		"vs_postgres":      r.vs(all+"_wall_s", ours, postgres),
		"size_vs_parquet":  over(r.median(all+"_stored_bytes", ours), r.median(one+"_stored_bytes", parquet)),
		"size_vs_duckdb":   over(r.median(all+"_stored_bytes", ours), r.median(one+"_stored_bytes", duckdb)),
		"size_vs_postgres": r.vs(all+"_stored_bytes", ours, postgres),
	}
}

// extreme is the worst of the shapes' ratios of that name, nil when none was measured.
func extreme(worst func([]float64) float64, shapes map[string]any, name string) any {
	var all []float64
	for _, s := range shapes {
		if v, ok := s.(map[string]any)[name].(float64); ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return worst(all)
}

// total is the sum of the medians of the figures whose names end so.
func (r *Report) total(suffix string) float64 {
	var sum float64
	for _, f := range r.figures {
		if strings.HasSuffix(f.name, suffix) {
			sum += r.median(f.name, ours)
		}
	}
	return sum
}

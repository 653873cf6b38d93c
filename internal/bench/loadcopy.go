package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// The peers of a load.
const (
	duckdb   = "duckdb"
	parquet  = "parquet"
	postgres = "postgres"
)

// loadTable is the table that is loaded.
const loadTable = "bench_load"

// copies loads the file into each side, in turns: ours and DuckDB with one core and with all, PostgreSQL with what it uses.
func (l *loading) copies(ctx context.Context, f *source) error {
	for round := range l.Runs {
		for _, cores := range coreCounts() {
			if err := l.copyOurs(ctx, f, cores); err != nil {
				return err
			}
			if err := l.copyDuckDB(ctx, f, cores, round == 0 && cores == 1); err != nil {
				return err
			}
		}
		if err := l.copyPostgres(ctx, f); err != nil {
			return err
		}
		name := copyName(f.Name, runtime.GOMAXPROCS(0))
		l.say("%s: COPY, round %d of %d: %.2f s, CPU %.2f s, DuckDB %.2f s, PostgreSQL %.2f s", f.Name, round+1, l.Runs,
			l.r.median(name+"_wall_s", ours), l.r.median(name+"_cpu_s", ours), l.r.median(name+"_wall_s", duckdb), l.r.median(name+"_wall_s", postgres))
	}
	return nil
}

// coreCounts are the numbers of cores that loads are measured with.
func coreCounts() []int {
	if all := runtime.GOMAXPROCS(0); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

// copyName begins the names of the figures of a COPY with so many cores.
func copyName(shape string, cores int) string {
	if cores == runtime.GOMAXPROCS(0) {
		return "copy_" + shape
	}
	return "copy_" + shape + "_" + strconv.Itoa(cores) + "_core"
}

// copyOurs starts a server and sends it the file.
func (l *loading) copyOurs(ctx context.Context, f *source, cores int) (err error) {
	t, err := StartTailrace("GOMAXPROCS=" + strconv.Itoa(cores))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Stop()) }()
	if err := t.exec(ctx, f.Create(loadTable)); err != nil {
		return err
	}
	blobs := filepath.Join(t.Data, "blob")
	before, err := folderBytes(blobs)
	if err != nil {
		return err
	}
	name := copyName(f.Name, cores)
	if err := l.copyFile(ctx, t, f, name, func(int) (time.Duration, error) { return cpuOf(t.PID) }); err != nil {
		return err
	}
	after, err := folderBytes(blobs)
	if err != nil {
		return err
	}
	l.r.add(name+"_stored_bytes", ours, float64(after-before), false)
	return nil
}

// copyFile sends the file through COPY FROM STDIN and files what it took; cpu tells the CPU time so far of the server's process that does it.
func (l *loading) copyFile(ctx context.Context, t *Target, f *source, name string, cpu func(backend int) (time.Duration, error)) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	in, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	backend := int(c.PgConn().PID())
	before, err := cpu(backend)
	if err != nil {
		return err
	}
	began := time.Now()
	tag, err := c.PgConn().CopyFrom(ctx, in, "COPY "+loadTable+" FROM STDIN (FORMAT csv)")
	wall := time.Since(began)
	if err != nil {
		return fmt.Errorf("%s: COPY FROM STDIN: %w", t.Name, err)
	}
	after, err := cpu(backend)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != int64(f.rows) {
		return fmt.Errorf("%s: COPY took %d rows of %d", t.Name, tag.RowsAffected(), f.rows)
	}
	l.r.add(name+"_wall_s", t.Name, wall.Seconds(), false)
	if after > before {
		l.r.add(name+"_cpu_s", t.Name, (after - before).Seconds(), false)
	}
	return nil
}

// folderBytes is the size of the files of a folder.
func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was a temporary file
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"tailrace/internal/bench/duck"
)

// copyPostgres sends the file to the PostgreSQL, when there is one: into an ordinary table, with nothing left to write from before.
func (l *loading) copyPostgres(ctx context.Context, f *source) error {
	if l.Postgres == "" {
		return nil
	}
	t := &Target{Name: postgres, URL: l.Postgres}
	if err := t.exec(ctx, "DROP TABLE IF EXISTS "+loadTable, f.Create(loadTable), "CHECKPOINT"); err != nil {
		return err
	}
	name := copyName(f.Name, runtime.GOMAXPROCS(0))
	if err := l.copyFile(ctx, t, f, name, backendCPU); err != nil {
		return err
	}
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	var size int64
	if err := c.QueryRow(ctx, "SELECT pg_total_relation_size('"+loadTable+"')").Scan(&size); err != nil {
		return fmt.Errorf("%s: size of the table: %w", t.Name, err)
	}
	l.r.add(name+"_stored_bytes", postgres, float64(size), false)
	return t.exec(ctx, "DROP TABLE "+loadTable)
}

// backendCPU is the CPU time of a PostgreSQL's process on this machine, 0 when it runs on another.
func backendCPU(pid int) (time.Duration, error) {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || string(bytes.TrimSpace(name)) != "postgres" {
		return 0, nil //nolint:nilerr // no such process here
	}
	return cpuOf(pid)
}

// copyDuckDB has a process of its own load the file into a new DuckDB database, and write the rows as Parquet when asked.
func (l *loading) copyDuckDB(ctx context.Context, f *source, threads int, asParquet bool) error {
	job := duck.Load{File: filepath.Join(l.dir, "duckdb"), CSV: f.path, Create: f.Create("t"), Threads: threads}
	if asParquet {
		job.Parquet = filepath.Join(l.dir, "parquet")
	}
	defer func() {
		for _, name := range []string{job.File, job.File + ".wal", job.Parquet} {
			_ = os.Remove(name) // with the folder at the latest
		}
	}()
	took, err := duckProcess(ctx, job)
	if err != nil {
		return err
	}
	if took.Rows != int64(f.rows) {
		return fmt.Errorf("DuckDB: COPY took %d rows of %d", took.Rows, f.rows)
	}
	name := copyName(f.Name, threads)
	l.r.add(name+"_wall_s", duckdb, took.Wall.Seconds(), false)
	l.r.add(name+"_cpu_s", duckdb, took.CPU.Seconds(), false)
	l.r.add(name+"_stored_bytes", duckdb, float64(took.FileBytes), false)
	if asParquet {
		l.r.add(name+"_stored_bytes", parquet, float64(took.ParquetSize), false)
		l.r.add("parquet_"+f.Name+"_cpu_s", duckdb, took.ParquetCPU.Seconds(), false)
	}
	return nil
}

// DuckCommand is the command, below `bench`, that this binary is started with to be the DuckDB of a load.
const DuckCommand = "duckdb-load"

// duckProcess runs DuckDB in a process of its own.
func duckProcess(ctx context.Context, job duck.Load) (f duck.Figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, fmt.Errorf("find this binary: %w", err)
	}
	in, err := json.Marshal(job)
	if err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, self, "bench", DuckCommand)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("run DuckDB: %w", err)
	}
	return f, json.Unmarshal(out, &f)
}

// RunDuckDB is that process: it reads the job from in and writes what it took to out.
func RunDuckDB(in io.Reader, out io.Writer) error {
	var job duck.Load
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return fmt.Errorf("read the load: %w", err)
	}
	took, err := job.Run(cpuUsed)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(took)
}

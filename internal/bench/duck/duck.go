// Package duck runs the DuckDB that this binary carries as a peer to measure against: its own tables in its own file, none of ours.
//
// It is meant for a process of its own, started for one load, so that memory and CPU time are DuckDB's alone.
package duck

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// Load is a CSV file to load into a new database.
type Load struct {
	File    string // the database, which must not exist
	CSV     string // without a header
	Create  string // CREATE TABLE t (...)
	Threads int
	Parquet string // file to write the rows to as Parquet, zstd; "" for none
}

// Figures are what a load took.
type Figures struct {
	Version     string
	Rows        int64
	Wall        time.Duration // of COPY FROM, which commits
	CPU         time.Duration // likewise, user and system
	FileBytes   int64         // of the database after CHECKPOINT
	ParquetWall time.Duration // of COPY TO
	ParquetCPU  time.Duration
	ParquetSize int64 // bytes
}

// Run loads. cpu tells how much CPU time this process has used.
func (l Load) Run(cpu func() time.Duration) (f Figures, err error) {
	var config capi.Config
	if capi.CreateConfig(&config) == capi.StateError {
		return f, errors.New("opening DuckDB: no memory for its configuration")
	}
	defer capi.DestroyConfig(&config)
	if capi.SetConfig(config, "threads", strconv.Itoa(l.Threads)) == capi.StateError {
		return f, fmt.Errorf("opening DuckDB: it refused %d threads", l.Threads)
	}
	var db capi.Database
	var message string
	if capi.OpenExt(l.File, &db, config, &message) == capi.StateError {
		return f, fmt.Errorf("opening DuckDB: %s", message)
	}
	defer capi.Close(&db)
	var c capi.Connection
	if capi.Connect(db, &c) == capi.StateError {
		return f, errors.New("connecting to DuckDB: it has no connection to give")
	}
	defer capi.Disconnect(&c)
	f.Version = capi.LibraryVersion()
	s := session{c, cpu}
	if err := l.load(s, &f); err != nil {
		return f, err
	}
	return f, l.parquet(s, &f)
}

func (l Load) load(s session, f *Figures) error {
	if _, _, _, err := s.query(l.Create); err != nil {
		return err
	}
	var err error
	if f.Rows, f.Wall, f.CPU, err = s.query("COPY t FROM " + literal(l.CSV) + " (FORMAT csv, HEADER false)"); err != nil {
		return err
	}
	if _, _, _, err := s.query("CHECKPOINT"); err != nil {
		return err
	}
	f.FileBytes, err = size(l.File)
	return err
}

func (l Load) parquet(s session, f *Figures) (err error) {
	if l.Parquet == "" {
		return nil
	}
	if _, f.ParquetWall, f.ParquetCPU, err = s.query("COPY t TO " + literal(l.Parquet) + " (FORMAT parquet, COMPRESSION zstd)"); err != nil {
		return err
	}
	f.ParquetSize, err = size(l.Parquet)
	return err
}

// session is a connection and the clock of CPU time.
type session struct {
	connection capi.Connection
	cpu        func() time.Duration
}

// query runs one statement and tells how many rows it changed and what it took.
func (s session) query(sql string) (rows int64, wall, cpu time.Duration, err error) {
	before, began := s.cpu(), time.Now()
	var r capi.Result
	state := capi.Query(s.connection, sql, &r)
	wall, cpu = time.Since(began), s.cpu()-before
	defer capi.DestroyResult(&r)
	if state == capi.StateError {
		return 0, 0, 0, fmt.Errorf("DuckDB: %s: %s", sql, capi.ResultError(&r))
	}
	return int64(capi.RowsChanged(&r)), wall, cpu, nil
}

func size(name string) (int64, error) {
	at, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return at.Size(), nil
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

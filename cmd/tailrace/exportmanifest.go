package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
)

// manifestName is the file that says what an export is. It is written last.
const manifestName = "export.json"

// manifest is export.json.
type manifest struct {
	Version string           `json:"tailrace"` // which made it
	Made    time.Time        `json:"made"`
	Table   string           `json:"table"`
	AsOf    tailrace.Time    `json:"as_of"` // the rows are those of this time, microseconds since 1970
	Format  string           `json:"format"`
	Rows    int64            `json:"rows"`
	Columns []manifestColumn `json:"columns"`
	Files   []manifestFile   `json:"files"`
}

// manifestColumn is a column.
type manifestColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`      // as in CREATE TABLE
	File string `json:"file_type"` // DuckDB's name of the type in Parquet; text in CSV
}

// manifestFile is a file.
type manifestFile struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hex
}

// add makes the files durable and lists them.
func (m *manifest) add(files []*os.File, rows []int64) error {
	m.Files = make([]manifestFile, len(files))
	var sums errgroup.Group
	for i, f := range files {
		m.Rows += rows[i]
		sums.Go(func() (err error) {
			m.Files[i], err = sealed(f, rows[i])
			return err
		})
	}
	return sums.Wait()
}

// sealed is a file that was written, once it is on disk.
func sealed(f *os.File, rows int64) (manifestFile, error) {
	if err := f.Sync(); err != nil {
		return manifestFile{}, writeError(err, f.Name())
	}
	hash := sha256.New()
	n, err := io.Copy(hash, io.NewSectionReader(f, 0, 1<<62))
	return manifestFile{Name: filepath.Base(f.Name()), Rows: rows, Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// bytes is the size of all files.
func (m *manifest) bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// write writes export.json into dir.
func (m *manifest) write(dir string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, manifestName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as a file that its user makes
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", manifestName, writeError(err, f.Name()))
	}
	return nil
}

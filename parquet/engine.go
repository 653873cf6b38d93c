package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tailrace"
	"tailrace/duckdb"
)

// Options bound what an Engine may use.
type Options struct {
	MemoryBytes int64  // of all files that are read and written at once; 0 is 512 MiB
	Threads     int    // 0 is 1
	TempDir     string // where what is beyond MemoryBytes goes; empty: nowhere, and it is an error
	TempBytes   int64  // most bytes there; 0 is 8 GiB
}

// Engine reads and writes files. Its methods may be called from several goroutines.
type Engine struct{ db *duckdb.Engine }

// Open starts an engine, which takes some milliseconds and some MiB.
func Open(o Options) (*Engine, error) {
	db, err := duckdb.Open(duckdb.Options{MemoryBytes: o.MemoryBytes, Threads: o.Threads, TempDir: o.TempDir, TempBytes: o.TempBytes, Files: true})
	if err != nil {
		return nil, err
	}
	return &Engine{db}, nil
}

// Close waits for what is read and written, and ends the engine.
func (e *Engine) Close() error { return e.db.Close() }

// Usage is what the engine takes now, in bytes of memory and of temporary files.
func (e *Engine) Usage(ctx context.Context) (memory, temp int64) {
	u, err := e.db.Usage(ctx)
	if err != nil {
		return 0, 0 // it is closed
	}
	return u.Memory, u.Temp
}

// pathOf is a name under which this process can open f once more, with the rights that f's opener had.
func pathOf(f *os.File) string { return fmt.Sprintf("'/proc/self/fd/%d'", f.Fd()) }

// userError is what DuckDB said about a file, as users see it. name is the file's as they know it.
func userError(err error, doing, name string) error {
	var e *duckdb.Error
	if !errors.As(err, &e) {
		return err
	}
	first, _, _ := strings.Cut(e.Message, "\n")
	first = strings.TrimSpace(first)
	switch {
	case strings.Contains(first, "No space left") || strings.Contains(first, "quota exceeded"):
		return &tailrace.Error{Code: "53100", Message: fmt.Sprintf("%s \"%s\": no space left on device", doing, name), Hint: "Free some space, or choose another disk.", Err: err}
	case strings.Contains(first, "File too large"):
		return &tailrace.Error{Code: "53100", Message: fmt.Sprintf("%s \"%s\": the file would be larger than this process may make it", doing, name), Hint: "Raise its limit: ulimit -f unlimited.", Err: err}
	case strings.HasPrefix(first, "Out of Memory"):
		return &tailrace.Error{Code: "53200", Message: fmt.Sprintf("%s \"%s\": out of memory", doing, name), Detail: first, Err: err}
	case doing == reading:
		return &tailrace.Error{Code: "22P04", Message: fmt.Sprintf("%s \"%s\": it is no Parquet file, or damaged", doing, name), Detail: plainMessage(first), Err: err}
	}
	return &tailrace.Error{Code: "58030", Message: fmt.Sprintf("%s \"%s\": input or output error", doing, name), Detail: plainMessage(first), Err: err}
}

// What userError says was being done.
const (
	reading = "reading"
	writing = "writing"
)

// plainMessage is what DuckDB says without our name for the file, which means nothing to anyone else.
func plainMessage(message string) string {
	for {
		at := strings.Index(message, "/proc/self/fd/")
		if at < 0 {
			return message
		}
		end := at + len("/proc/self/fd/")
		for end < len(message) && message[end] >= '0' && message[end] <= '9' {
			end++
		}
		message = message[:at] + "the file" + message[end:]
	}
}

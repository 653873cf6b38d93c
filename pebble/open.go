package pebble

import (
	"fmt"
	"log/slog"
	"sync"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"tailrace"
)

// MinFree is the free space, in bytes, below which nothing is appended: room for pebble's own flushes and compactions of the log that is
// retained, four memtables of 16 MiB and 64 MiB of tables twice.
const MinFree = 256 << 20

const (
	cacheBytes    = 16 << 20 // pebble's block cache: the log is read once, from its end
	memtableBytes = 16 << 20
	maxOpenFiles  = 256
)

// Options of a Consensus; the zero value is the default.
type Options struct {
	MinFree int64        // bytes, 0 is MinFree
	Logger  *slog.Logger // hears of errors in pebble's background work; nil is slog.Default
}

// Consensus is a pebble store in a folder of its own. Any number of goroutines may call it; none while or after it closes.
type Consensus struct {
	db      *lsm.DB
	dir     string
	minFree int64

	mu   sync.Mutex // guards keys and what is in them, in memory only
	keys map[string]*cell
}

// Open opens the store in dir, which it creates if need be. Close it.
func Open(dir string, opts Options) (*Consensus, error) {
	if opts.MinFree == 0 {
		opts.MinFree = MinFree
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	cache := lsm.NewCache(cacheBytes)
	defer cache.Unref()
	db, err := lsm.Open(dir, &lsm.Options{
		FS:                 longLogs{vfs.Default},
		Cache:              cache,
		FormatMajorVersion: lsm.FormatNewest,
		MemTableSize:       memtableBytes,
		MaxOpenFiles:       maxOpenFiles,
		Logger:             logger{opts.Logger},
	})
	if err != nil {
		return nil, fmt.Errorf("open pebble store %s: %w", dir, err)
	}
	return &Consensus{db: db, dir: dir, minFree: opts.MinFree, keys: map[string]*cell{}}, nil
}

// Close ends background work and closes the files.
func (c *Consensus) Close() error {
	if err := c.db.Close(); err != nil {
		return fmt.Errorf("close pebble store %s: %w", c.dir, err)
	}
	return nil
}

// checkFree refuses with ErrFull to write n bytes where they would leave too little. One statfs, about a microsecond.
func (c *Consensus) checkFree(n int) error {
	var st unix.Statfs_t
	if err := unix.Statfs(c.dir, &st); err != nil {
		return fmt.Errorf("free space of %s: %w: %w", c.dir, err, tailrace.ErrFull)
	}
	if free := int64(st.Bavail) * st.Bsize; free-int64(n) < c.minFree {
		return fmt.Errorf("%d MiB free in %s, %d MiB needed: %w", free>>20, c.dir, c.minFree>>20, tailrace.ErrFull)
	}
	return nil
}

// logger passes on what pebble has to say about errors, and nothing else.
type logger struct{ to *slog.Logger }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.to.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return: pebble's log could not be written, and what is in memory is no longer what is on disk. A restart reads the disk.
func (l logger) Fatalf(format string, args ...any) {
	panic("pebble: " + fmt.Sprintf(format, args...))
}

package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"tailrace"
)

// What a store takes of memory, in bytes, and of the disk.
const (
	// CacheBytes is the block cache when Options do not say.
	CacheBytes = 96 << 20
	// memtableBytes is one memtable; pebble fills one while memtableStop-1 others are written to disk.
	memtableBytes = 16 << 20
	memtableStop  = 4
	// MemoryBytes is what a store takes at most when Options do not say: cache and memtables.
	MemoryBytes = CacheBytes + memtableStop*memtableBytes
	// MinFree is the free space below which nothing is written.
	MinFree = 512 << 20

	maxOpenFiles = 512
	fileBytes    = 64 << 20 // of a table
	blockBytes   = 4 << 10  // of a data block: what a lookup that misses the cache reads
	indexBytes   = 1 << 20  // of an index block: a table has one
	filterBits   = 10       // of the Bloom filter, a key, above the lowest level

	idleIterators = 8 // kept for the next readers
)

var (
	// ErrDamaged is returned (wrapped) once the store cannot be read or written any more. Renew makes it empty and well.
	ErrDamaged = errors.New("the index is damaged")
	// ErrClosed is returned (wrapped) after Close.
	ErrClosed = errors.New("the index is closed")
)

// Options of a Store; the zero value is the default.
type Options struct {
	CacheBytes int64 // 0 is CacheBytes
	// MemtableBytes is one memtable, of which there are memtableStop at most; 0 is memtableBytes.
	MemtableBytes int64
	MinFree       int64        // bytes, 0 is MinFree
	Logger        *slog.Logger // hears of errors in pebble's background work; nil is slog.Default
}

// Store is an index in a folder of its own. Any number of goroutines may call it.
type Store struct {
	dir       string
	consensus tailrace.Consensus
	opts      Options

	mu      sync.Mutex // for memory only
	now     *opened    // nil when closed
	damaged atomic.Pointer[error]
}

// opened is a pebble store that is closed when nobody uses it any more.
type opened struct {
	db   *lsm.DB
	opts *lsm.Options
	done chan struct{} // closed when db is
	err  error         // of closing it, after done

	// Guarded by Store.mu.
	uses    int             // the Store's own is one of them
	version uint64          // counts what was committed
	idle    []*lsm.Iterator // of the current version
}

// open makes the folder if need be. What it finds there is taken as it is; see Adopt.
func (s *Store) open() (*opened, error) {
	if err := os.RemoveAll(s.loadDir()); err != nil {
		return nil, fmt.Errorf("open index %s: %w", s.dir, err)
	}
	if err := os.MkdirAll(s.loadDir(), 0o700); err != nil {
		return nil, fmt.Errorf("open index %s: %w", s.dir, err)
	}
	cache := lsm.NewCache(s.opts.CacheBytes)
	defer cache.Unref()
	opts := &lsm.Options{
		Cache: cache, FS: vfs.Default, DisableWAL: true, FormatMajorVersion: lsm.FormatNewest, MaxOpenFiles: maxOpenFiles,
		MemTableSize: uint64(s.opts.MemtableBytes), MemTableStopWritesThreshold: memtableStop, L0CompactionThreshold: 2,
		Logger: logger{s.opts.Logger}, EventListener: &lsm.EventListener{
			BackgroundError: s.damage,
			DataCorruption:  func(i lsm.DataCorruptionInfo) { s.damage(i.Details) },
		},
	}
	opts.Experimental.DisableIngestAsFlushable = func() bool { return true } // that needs the write-ahead log
	for i := range opts.Levels {
		opts.Levels[i].BlockSize, opts.Levels[i].IndexBlockSize = blockBytes, indexBytes
		if opts.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits); i == len(opts.Levels)-1 {
			opts.Levels[i].FilterPolicy = lsm.NoFilterPolicy
		}
	}
	opts.TargetFileSizes[0] = fileBytes
	opts.ApplyCompressionSettings(func() lsm.DBCompressionSettings { return lsm.DBCompressionNone })
	db, err := lsm.Open(filepath.Join(s.dir, "rows"), opts)
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", s.dir, err)
	}
	return &opened{db: db, opts: opts, uses: 1, done: make(chan struct{})}, nil
}

func (s *Store) loadDir() string { return filepath.Join(s.dir, "load") }

// use returns the pebble store until done is called. It is ErrClosed or ErrDamaged when there is none to be used.
func (s *Store) use() (o *opened, done func(), err error) {
	if err := s.damaged.Load(); err != nil {
		return nil, nil, *err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, nil, fmt.Errorf("index %s: %w", s.dir, ErrClosed)
	}
	o = s.now
	o.uses++
	return o, func() { s.leave(o) }, nil
}

// leave gives up one use and closes the pebble store after the last.
func (s *Store) leave(o *opened) {
	s.mu.Lock()
	o.uses--
	last := o.uses == 0
	s.mu.Unlock()
	if last {
		for _, it := range o.idle {
			_ = it.Close() // an error of its was told
		}
		o.err = o.db.Close()
		close(o.done)
	}
}

// damage makes the store of no use until Renew. The first error is the one that is told.
func (s *Store) damage(err error) {
	wrapped := fmt.Errorf("index %s: %w: %w", s.dir, ErrDamaged, err)
	if s.damaged.CompareAndSwap(nil, &wrapped) {
		s.opts.Logger.Warn("the index of keys is damaged and will be made again", "folder", s.dir, "error", err)
	}
}

// failed is what a caller is told of an error of pebble's, which counts as damage unless it is the caller's own.
func (s *Store) failed(doing string, err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		s.damage(err)
	}
	return fmt.Errorf("%s index %s: %w", doing, s.dir, err)
}

// Close writes what is in memory to disk and closes the files. It waits for those who use the store.
func (s *Store) Close() error {
	var flushErr error
	if s.damaged.Load() == nil {
		flushErr = s.Flush()
	}
	if err := errors.Join(flushErr, s.shut()); err != nil {
		return fmt.Errorf("close index %s: %w", s.dir, err)
	}
	return nil
}

// shut closes the pebble store once nobody uses it.
func (s *Store) shut() error {
	s.mu.Lock()
	o := s.now
	s.now = nil
	s.mu.Unlock()
	if o == nil {
		return nil
	}
	s.leave(o)
	<-o.done
	return o.err
}

// Renew throws everything away and begins with an empty store that is well.
func (s *Store) Renew(ctx context.Context) error {
	if err := s.reset(); err != nil {
		return err
	}
	return s.adopt(ctx)
}

// reset leaves an empty store that nobody has adopted.
func (s *Store) reset() error {
	_ = s.shut() // it is thrown away
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("empty index %s: %w", s.dir, err)
	}
	o, err := s.open()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.now = o
	s.mu.Unlock()
	s.damaged.Store(nil)
	return nil
}

// Damaged is the error that made the store useless, nil while it is well.
func (s *Store) Damaged() error {
	if err := s.damaged.Load(); err != nil {
		return *err
	}
	return nil
}

// Flush writes what is in memory to disk, so that a crash loses nothing of it.
func (s *Store) Flush() error {
	o, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	if err := o.db.Flush(); err != nil {
		return s.failed("flush", err)
	}
	s.changed(o)
	return nil
}

// DiskBytes is what the store takes on disk.
func (s *Store) DiskBytes() int64 {
	o, done, err := s.use()
	if err != nil {
		return 0
	}
	defer done()
	return int64(o.db.Metrics().DiskSpaceUsage())
}

// checkFree refuses with tailrace.ErrFull to write n bytes where they would leave too little.
func (s *Store) checkFree(n int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(s.dir, &st); err != nil {
		return s.failed("find the free space for", err)
	}
	if free := int64(st.Bavail) * st.Bsize; free-n < s.opts.MinFree {
		return fmt.Errorf("%d MiB free in %s, %d MiB needed: %w", free>>20, s.dir, (s.opts.MinFree+n)>>20, tailrace.ErrFull)
	}
	return nil
}

// logger passes on what pebble has to say about errors, and nothing else.
type logger struct{ to *slog.Logger }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.to.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return: pebble's memory is no longer what it should be.
func (l logger) Fatalf(format string, args ...any) {
	panic("pebble: " + fmt.Sprintf(format, args...))
}

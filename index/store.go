package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"tailrace"
)

// What a store takes of memory, in bytes, and of the disk.
const (
	// CacheBytes are the directories of tables when Options do not say: those of about 100 million rows of 100 bytes.
	CacheBytes = 96 << 20
	// memtableBytes is where memtables are written when Options do not say: one is filled, and readers may still have the one before.
	memtableBytes = 16 << 20
	memtables     = 2
	// MemoryBytes is what a store takes at most when Options do not say: directories and memtables.
	MemoryBytes = CacheBytes + memtables*memtableBytes
	// MinFree is the free space below which nothing is written.
	MinFree = 512 << 20
)

var (
	// ErrDamaged is returned (wrapped) once the store cannot be read or written any more. Renew makes it empty and well.
	ErrDamaged = errors.New("the index is damaged")
	// ErrClosed is returned (wrapped) after Close.
	ErrClosed = errors.New("the index is closed")
)

// Options of a Store; the zero value is the default.
type Options struct {
	CacheBytes    int64        // of directories, 0 is CacheBytes
	MemtableBytes int64        // of all memtables together, where they are written; 0 is the default
	TableBytes    int64        // where a table is cut, 0 is TableBytes
	MinFree       int64        // bytes, 0 is MinFree
	Logger        *slog.Logger // hears of damage; nil is slog.Default
}

// Store is an index in a folder of its own. Any number of goroutines may call it.
type Store struct {
	dir         string
	consensus   tailrace.Consensus
	opts        Options
	damaged     atomic.Pointer[error]
	number      atomic.Uint64 // of the newest table
	directories directories

	// writing holds a token while someone changes memtables, the manifest or the view.
	writing chan struct{}
	token   string // of the last adoption; who writes has it

	mu    sync.Mutex // for memory only
	now   *view      // nil when closed
	users sync.WaitGroup
}

// view is what there was at some moment. Its tables stay open while it is used.
type view struct {
	collections collections
	uses        int // guarded by Store.mu; as the newest is one of them
}

// use returns the newest view until leave is called for it. It is ErrClosed or ErrDamaged when there is none to be used.
func (s *Store) use() (*view, error) {
	if err := s.damaged.Load(); err != nil {
		return nil, *err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, fmt.Errorf("index %s: %w", s.dir, ErrClosed)
	}
	s.now.uses++
	s.users.Add(1)
	return s.now, nil
}

// leave gives up a use.
func (s *Store) leave(v *view) {
	s.release(v)
	s.users.Done()
}

// release gives up a use of v, or its being the newest, and closes the tables that nobody has any more.
func (s *Store) release(v *view) {
	s.mu.Lock()
	v.uses--
	var closing []*table
	if v.uses == 0 {
		for t := range v.tables {
			if t.uses--; t.uses == 0 {
				closing = append(closing, t)
			}
		}
	}
	s.mu.Unlock()
	for _, t := range closing {
		s.directories.forget(t)
		if t.gone {
			s.remove(t)
		} else {
			t.file.Close()
		}
	}
}

// tables yields the view's.
func (v *view) tables(yield func(*table) bool) {
	for _, c := range v.collections {
		for _, r := range c.runs {
			for _, t := range r {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// take waits for the turn to write and returns the newest view, in use. The caller calls give.
func (s *Store) take() (*view, error) {
	s.writing <- struct{}{}
	v, err := s.use()
	if err != nil {
		<-s.writing
	}
	return v, err
}

func (s *Store) give(v *view) {
	s.leave(v)
	<-s.writing
}

// install makes cs the newest view. Tables that it has not are removed once nobody reads them. The caller has the turn to write.
func (s *Store) install(cs collections) {
	v := &view{collections: cs, uses: 1}
	s.mu.Lock()
	old := s.now
	s.now = v
	for t := range v.tables {
		t.uses++
	}
	if old != nil {
		kept := map[*table]bool{}
		for t := range v.tables {
			kept[t] = true
		}
		for t := range old.tables {
			t.gone = t.gone || !kept[t]
		}
	}
	s.mu.Unlock()
	if old != nil {
		s.release(old)
	}
}

// damage makes the store of no use until Renew. The first error is the one that is told.
func (s *Store) damage(err error) {
	wrapped := fmt.Errorf("index %s: %w: %w", s.dir, ErrDamaged, err)
	if s.damaged.CompareAndSwap(nil, &wrapped) {
		s.opts.Logger.Warn("the index of keys is damaged and will be made again", "folder", s.dir, "error", err)
	}
}

// failed is what a caller is told of an error of files, which counts as damage unless it is that the disk is full.
func (s *Store) failed(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: %w", tailrace.ErrFull, err)
	} else if !errors.Is(err, tailrace.ErrFull) {
		s.damage(err)
	}
	return fmt.Errorf("%s index %s: %w", doing, s.dir, err)
}

// Close writes what is in memory to disk and closes the files. It waits for those who use the store.
func (s *Store) Close() error {
	var err error
	if s.damaged.Load() == nil {
		if err = s.Flush(); errors.Is(err, ErrClosed) {
			err = nil
		}
	}
	s.shut()
	if err != nil {
		return fmt.Errorf("close index %s: %w", s.dir, err)
	}
	return nil
}

// shut closes the files once nobody uses them.
func (s *Store) shut() {
	s.mu.Lock()
	v := s.now
	s.now = nil
	s.mu.Unlock()
	if v == nil {
		return
	}
	s.release(v)
	s.users.Wait()
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
	s.shut()
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("empty index %s: %w", s.dir, err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("empty index %s: %w", s.dir, err)
	}
	s.install(collections{})
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

// DiskBytes is what the store takes on disk.
func (s *Store) DiskBytes() int64 {
	v, err := s.use()
	if err != nil {
		return 0
	}
	defer s.leave(v)
	n := int64(0)
	for t := range v.tables {
		n += t.size
	}
	return n
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

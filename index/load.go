package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tailrace"
)

// Load writes all rows of a collection, in key order, to tables of their own, which then take the place of what the store has of it in one step.
// It is used by one goroutine.
type Load struct {
	s     *Store
	id    tailrace.CollectionID
	o     *opened
	done  func()
	dir   string
	w     *sstable.Writer
	paths []string
	key   []byte
	size  int64 // of the table under way, about
}

// NewLoad begins to load a collection as of st. Finish or Close must be called.
func (s *Store) NewLoad(id tailrace.CollectionID, st State) (*Load, error) {
	o, done, err := s.use()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.loadDir(), "")
	if err != nil {
		done()
		return nil, s.failed("load", err)
	}
	l := &Load{s: s, id: id, o: o, done: done, dir: dir}
	if err := l.set(stateKey(id), st.encode()); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Add adds a row whose key is above all before.
func (l *Load) Add(key, value []byte) error {
	l.key = appendRowKey(l.key[:0], l.id, key)
	return l.set(l.key, value)
}

func (l *Load) set(key, value []byte) error {
	if l.size >= fileBytes {
		if err := l.end(); err != nil {
			return err
		}
	}
	if l.w == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	l.size += int64(len(key) + len(value))
	if err := l.w.Set(key, value); err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	return nil
}

func (l *Load) begin() error {
	if err := l.s.checkFree(fileBytes); err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	name := filepath.Join(l.dir, fmt.Sprintf("%06d.sst", len(l.paths)))
	f, err := vfs.Default.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return l.s.failed("load", err)
	}
	l.paths = append(l.paths, name)
	l.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), l.o.opts.MakeWriterOptions(len(l.o.opts.Levels)-1, l.o.db.TableFormat()))
	return nil
}

// end finishes the table under way.
func (l *Load) end() error {
	if l.w == nil {
		return nil
	}
	err := l.w.Close()
	l.w, l.size = nil, 0
	if err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	return nil
}

// Finish puts the rows in place. The load is of no more use, whatever the result.
func (l *Load) Finish(ctx context.Context) error {
	defer l.Close()
	if err := l.end(); err != nil {
		return err
	}
	if _, err := l.o.db.IngestAndExcise(ctx, l.paths, nil, nil, span(l.id)); err != nil {
		return l.s.failed("load", err)
	}
	l.s.changed(l.o)
	return nil
}

// Close gives the load up and removes its files. It may be called twice.
func (l *Load) Close() {
	if l.done == nil {
		return
	}
	_ = l.end() // it is thrown away
	if err := os.RemoveAll(l.dir); err != nil {
		l.s.opts.Logger.Warn("remove a load's files", "folder", l.dir, "error", err) // the next Open does
	}
	l.done()
	l.done = nil
}

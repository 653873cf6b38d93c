package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"tailrace"
)

// MinFree is the free space, in bytes, below which Put refuses: what the log beside it on the same disk needs to go on.
const MinFree = 256 << 20

// MaxValue is the size of the largest value, in bytes.
const MaxValue = 256 << 20

// aside is the folder where values are written before they get their name.
const aside = "TMP"

// Options of a Blob; the zero value is the default.
type Options struct {
	MinFree int64 // bytes, 0 is MinFree
}

// Blob is a directory of write-once values. Any number of goroutines may call it.
type Blob struct {
	dir     string
	minFree int64
	next    atomic.Uint64 // names the next file aside
}

// Open opens dir, which it creates if need be, and removes what a crash left in it. There is nothing to close.
func Open(dir string, opts Options) (*Blob, error) {
	if opts.MinFree == 0 {
		opts.MinFree = MinFree
	}
	b := &Blob{dir: dir, minFree: opts.MinFree}
	if err := b.sweep(); err != nil {
		return nil, fmt.Errorf("open blob folder %s: %w", dir, err)
	}
	return b, nil
}

// sweep empties the folder aside and removes folders in which nothing is left.
func (b *Blob) sweep() error {
	tmp := filepath.Join(b.dir, aside)
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := b.makeFolder(tmp); err != nil {
		return err
	}
	var folders []string
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != b.dir && path != tmp {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := len(folders) - 1; i >= 0; i-- { // children come after their parents
		if entries, err := os.ReadDir(folders[i]); err == nil && len(entries) == 0 {
			_ = os.Remove(folders[i]) // an empty folder that stays does no harm
		}
	}
	return nil
}

// alphabet is what the names in a key are made of.
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_."

// path is the file of key.
func (b *Blob) path(key string) (string, error) {
	for name := range strings.SplitSeq(key, "/") {
		foreign := func(r rune) bool { return !strings.ContainsRune(alphabet, r) }
		if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, foreign) {
			return "", fmt.Errorf("blob key %q: not names of a-z, 0-9, '-', '_' and '.' with a slash between", key)
		}
	}
	return filepath.Join(b.dir, filepath.FromSlash(key)), nil
}

// Get implements tailrace.Blob.
func (b *Blob) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	path, err := b.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	value, err := readRange(path, off, n)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errFolder) || errors.Is(err, unix.ENOTDIR) {
		return nil, fmt.Errorf("get %s: %w", key, tailrace.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	return value, nil
}

// errFolder says that a path is no file.
var errFolder = errors.New("is a folder")

func readRange(path string, off, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, errFolder
	}
	if off < 0 {
		return nil, fmt.Errorf("offset %d", off)
	}
	off = min(off, st.Size())
	if n < 0 || n > st.Size()-off {
		n = st.Size() - off
	}
	value := make([]byte, n)
	if _, err := f.ReadAt(value, off); err != nil && err != io.EOF {
		return nil, err
	}
	return value, nil
}

// Delete implements tailrace.Blob. It is not synced: a value that a crash brings back is deleted by whoever finds it unnamed.
func (b *Blob) Delete(ctx context.Context, key string) error {
	path, err := b.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	switch err := unix.Unlink(path); err { // not os.Remove, which takes empty folders too
	case nil, unix.ENOENT, unix.ENOTDIR, unix.EISDIR:
		return nil
	default:
		return fmt.Errorf("delete %s: %w", key, err)
	}
}

// holds says whether path holds exactly value.
func holds(path string, value []byte) (bool, error) {
	st, err := os.Stat(path)
	if err != nil || st.Size() != int64(len(value)) {
		return false, err
	}
	there, err := os.ReadFile(path)
	return bytes.Equal(there, value), err
}

package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"tailrace"
)

// Put implements tailrace.Blob. It refuses with ErrFull when less than MinFree would be left.
func (b *Blob) Put(ctx context.Context, key string, value []byte) error {
	path, err := b.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("put %s: %d bytes, at most %d fit a value", key, len(value), MaxValue)
	}
	if err := b.checkFree(len(value)); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	tmp := filepath.Join(b.dir, aside, strconv.FormatUint(b.next.Add(1), 10))
	defer os.Remove(tmp)
	err = writeSynced(tmp, value)
	if err == nil {
		err = b.name(tmp, path, value)
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		err = fmt.Errorf("%w: %w", err, tailrace.ErrFull)
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// checkFree refuses with ErrFull to write n bytes where they would leave too little.
func (b *Blob) checkFree(n int) error {
	var st unix.Statfs_t
	if err := unix.Statfs(b.dir, &st); err != nil {
		return err
	}
	if free := int64(st.Bavail) * st.Bsize; free-int64(n) < b.minFree {
		return fmt.Errorf("%d MiB free in %s, %d MiB needed: %w", free>>20, b.dir, (b.minFree+int64(n))>>20, tailrace.ErrFull)
	}
	return nil
}

// writeSynced makes the file path, which must not exist.
func writeSynced(path string, value []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(value)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// name links tmp to path, durably. Where path exists with the same bytes that is success: an earlier Put of them was cut off, perhaps
// before its folder was synced, so that is done in any case.
func (b *Blob) name(tmp, path string, value []byte) error {
	folder := filepath.Dir(path)
	err := os.Link(tmp, path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = b.makeFolder(folder); err == nil {
			err = os.Link(tmp, path)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		same, readErr := holds(path, value)
		switch {
		case readErr != nil:
			return readErr
		case !same:
			return tailrace.ErrExists
		}
		err = nil
	}
	if err != nil {
		return err
	}
	return syncFolder(folder)
}

// makeFolder makes folder and the folders above it that are missing, and syncs each new name.
func (b *Blob) makeFolder(folder string) error {
	err := os.Mkdir(folder, 0o700)
	switch {
	case err == nil:
		return syncFolder(filepath.Dir(folder))
	case errors.Is(err, fs.ErrExist):
		return syncFolder(filepath.Dir(folder)) // who made it may not have synced it yet
	case errors.Is(err, fs.ErrNotExist):
		if err := b.makeFolder(filepath.Dir(folder)); err != nil {
			return err
		}
		return b.makeFolder(folder)
	}
	return err
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

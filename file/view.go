package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tailrace"
)

// View returns the values of dir for reading. Unlike Open it makes, sweeps and changes nothing, so a process may use the folder meanwhile. Nothing
// may be Put.
func View(dir string) *Blob { return &Blob{dir: dir, minFree: MinFree} }

// ErrNoLink is returned (wrapped) by Link where the file system cannot give a file a second name: on another disk, for example. The value must be copied.
var ErrNoLink = errors.New("cannot be linked")

// Link stores the value that from holds under key under the same key here, durable when it returns nil, without copying it: both are names of one
// file. A missing key is tailrace.ErrNotFound, one that is here already tailrace.ErrExists.
func (b *Blob) Link(ctx context.Context, key string, from *Blob) error {
	to, err := b.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	source := filepath.Join(from.dir, filepath.FromSlash(key))
	if st, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) || err == nil && st.IsDir() {
		return fmt.Errorf("link %s: %w", key, tailrace.ErrNotFound)
	}
	if err := b.makeFolder(filepath.Dir(to)); err != nil {
		return fmt.Errorf("link %s: %w", key, err)
	}
	err = os.Link(source, to)
	switch {
	case err == nil:
		return syncFolder(filepath.Dir(to))
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("link %s: %w", key, tailrace.ErrExists)
	case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EPERM), errors.Is(err, unix.EMLINK), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("link %s: %w: %w", key, ErrNoLink, err)
	}
	return fmt.Errorf("link %s: %w", key, err)
}

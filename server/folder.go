package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is a data folder that this process has locked.
type folder struct {
	dir    string
	lock   *os.File
	format Format // as FORMAT has it
}

// LockedError says that another process uses the data folder.
type LockedError struct {
	Dir string
	PID string // as the other process wrote it
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("data folder %s is in use by process %s: stop it first, or choose another folder with --data", e.Dir, e.PID)
}

// openFolder makes dir if need be, locks it, and empties its tmp. The lock is the kernel's (flock): it ends with the process, however that ends.
func openFolder(dir string) (*folder, error) {
	if dir == "" {
		return nil, errors.New("no data folder given: type --data DIR")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	f := &folder{dir: dir, lock: lock}
	if err := f.take(); err != nil {
		_ = lock.Close() // nothing was written to it
		return nil, err
	}
	return f, nil
}

// isDataFolder says whether dir holds a log.
func isDataFolder(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "log", "MANIFEST-*")) // pebble's
	return err == nil && len(found) > 0
}

// take locks the folder and writes who has it.
func (f *folder) take() error {
	err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		pid := make([]byte, 20)
		n, _ := f.lock.ReadAt(pid, 0) // the end of the file is an error too
		owner := strings.TrimSpace(string(pid[:n]))
		if owner == "" {
			owner = "unknown"
		}
		return &LockedError{Dir: f.dir, PID: owner}
	}
	if err != nil {
		return fmt.Errorf("lock data folder %s: %w", f.dir, err)
	}
	if f.format, err = readFormat(f.dir); err == nil {
		err = f.format.check("data folder " + f.dir)
	}
	if err != nil {
		return err
	}
	if err := f.lock.Truncate(0); err != nil {
		return fmt.Errorf("lock data folder %s: %w", f.dir, err)
	}
	if _, err := fmt.Fprintln(f.lock, os.Getpid()); err != nil {
		return fmt.Errorf("lock data folder %s: %w", f.dir, err)
	}
	if err := os.RemoveAll(f.path("tmp")); err != nil {
		return fmt.Errorf("empty %s: %w", f.path("tmp"), err)
	}
	if err := os.Mkdir(f.path("tmp"), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", f.path("tmp"), err)
	}
	return nil
}

// path is the place of name in the folder.
func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// close gives the folder up.
func (f *folder) close() error { return f.lock.Close() }

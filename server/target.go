package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace"
)

// backupTarget refuses folders that a backup must not be written to.
func (n *node) backupTarget(dir string) error {
	if !filepath.IsAbs(dir) {
		return &tailrace.Error{Code: "42602", Message: "relative path not allowed for BACKUP", Hint: "Give the folder's full path on the server's machine, for example BACKUP TO '/backup/monday'."}
	}
	if n.folder != nil {
		if below, err := filepath.Rel(n.folder.dir, dir); err == nil && below != ".." && !strings.HasPrefix(below, "../") {
			return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("backup folder \"%s\" is in the data folder", dir), Hint: "Choose a folder elsewhere, best on another disk."}
		}
	}
	there, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fileError("read backup folder", err)
	case slices.ContainsFunc(there, func(e os.DirEntry) bool { return e.Name() == incompleteName }):
		return &tailrace.Error{Code: "58P02", Message: fmt.Sprintf("\"%s\" holds a backup that was cut off", dir), Hint: "Delete the folder, or choose another."}
	case len(there) > 0:
		return &tailrace.Error{Code: "58P02", Message: fmt.Sprintf("directory \"%s\" exists but is not empty", dir), Hint: "A backup goes into a folder of its own: choose a name that is not taken."}
	}
	return nil
}

// fileError gives what the system says of a file the SQLSTATE that PostgreSQL would give it.
func fileError(doing string, err error) error {
	var code string
	var path *fs.PathError
	switch {
	case errors.Is(err, tailrace.ErrCorrupt):
		code = "XX001"
	case errors.Is(err, tailrace.ErrFull), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		code = "53100"
	case errors.Is(err, fs.ErrPermission):
		code = "42501"
	case errors.As(err, &path):
		code = "58030"
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return &tailrace.Error{Code: code, Message: fmt.Sprintf("could not %s: %s", doing, err), Err: err}
}

package sql

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"tailrace"
	"tailrace/parquet"
)

// Files are those of the server that COPY may read and write: what is below one folder. Whatever a name says, and wherever a symbolic link leads, the system itself
// keeps every access within the folder (os.Root).
type Files struct {
	Root    *os.Root        // its Name is the folder's absolute path
	Parquet *parquet.Engine // reads and writes FORMAT parquet
}

// errNoFiles refuses files of the server.
var errNoFiles = &tailrace.Error{
	Code: "42501", Message: "COPY to and from files of the server is not allowed",
	Hint: "Start the server with --files DIR to allow those below DIR. COPY ... TO STDOUT and FROM STDIN, psql's \\copy, \"tailrace load\" and \"tailrace export\" need no such flag.",
}

// within is a file's name below the folder, of an absolute one or one that is below the folder already.
func (f *Files) within(name string) (string, error) {
	local := filepath.Clean(name)
	if filepath.IsAbs(local) {
		rel, err := filepath.Rel(f.Root.Name(), local)
		if err != nil {
			return "", f.outside(name)
		}
		local = rel
	}
	if !filepath.IsLocal(local) {
		return "", f.outside(name)
	}
	return local, nil
}

// outside refuses a file that is not below the folder.
func (f *Files) outside(name string) error {
	return &tailrace.Error{
		Code: "42501", Message: fmt.Sprintf("file \"%s\" is not below the folder that COPY may use", name),
		Hint: fmt.Sprintf("That is %s, as the server was started with --files; a name that is not absolute is below it.", f.Root.Name()),
	}
}

// failed is what the system said about a file, in PostgreSQL's words. doing is "for reading" or "for writing".
func (f *Files) failed(err error, name, doing string) error {
	var no syscall.Errno
	switch {
	case strings.HasSuffix(err.Error(), "path escapes from parent"): // os.Root has no name for it
		return f.outside(name)
	case errors.As(err, &no):
	default:
		return err
	}
	e := &tailrace.Error{Code: "58030", Message: fmt.Sprintf("could not open file \"%s\" %s: %s", name, doing, sentence(no)), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code = "58P01"
		e.Hint = fmt.Sprintf("The file is looked for at the server, below %s. For one at the client there are psql's \\copy and \"tailrace load\".", f.Root.Name())
	case errors.Is(err, fs.ErrPermission):
		e.Code = "42501"
	case errors.Is(err, syscall.EISDIR):
		return &tailrace.Error{Code: "42809", Message: fmt.Sprintf("\"%s\" is a directory", name)}
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Code = "58P02"
	}
	return e
}

// sentence is an error of the system as PostgreSQL prints it.
func sentence(no syscall.Errno) string {
	text := no.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// open opens a file to read from.
func (f *Files) open(name string) (*os.File, error) {
	local, err := f.within(name)
	if err != nil {
		return nil, err
	}
	file, err := f.Root.OpenFile(local, os.O_RDONLY|syscall.O_NONBLOCK, 0) // of a pipe without a writer too
	if err != nil {
		return nil, f.failed(err, name, "for reading")
	}
	st, err := file.Stat()
	if err == nil {
		err = regular(name, st.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// regular refuses what is no file with content of its own.
func regular(name string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return &tailrace.Error{Code: "42809", Message: fmt.Sprintf("\"%s\" is a directory", name)}
	case !mode.IsRegular():
		return &tailrace.Error{Code: "42809", Message: fmt.Sprintf("\"%s\" is not a regular file", name)}
	}
	return nil
}

// filePermissions are PostgreSQL's for a file that COPY makes.
const filePermissions = 0o644

// write makes a file with what fn writes, or leaves everything as it was: the content is written beside it, made durable, and then takes the name.
func (f *Files) write(name string, fn func(*os.File) error) (err error) {
	local, err := f.within(name)
	if err != nil {
		return err
	}
	if st, err := f.Root.Stat(local); err == nil {
		if err := regular(name, st.Mode()); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return f.failed(err, name, "for writing")
	}
	aside := filepath.Join(filepath.Dir(local), "."+filepath.Base(local)+"."+newUUID())
	file, err := f.Root.OpenFile(aside, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePermissions)
	if err != nil {
		return f.failed(err, name, "for writing")
	}
	defer func() {
		if err != nil {
			err = errors.Join(full(err, name), f.Root.Remove(aside))
		}
	}()
	err = fn(file)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return err
	}
	if err := f.Root.Rename(aside, local); err != nil {
		return f.failed(err, name, "for writing")
	}
	return f.syncFolder(filepath.Dir(local))
}

// syncFolder makes names in a folder durable.
func (f *Files) syncFolder(name string) error {
	dir, err := f.Root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// full names the file and what to do when its disk, or what the process may write, is full.
func full(err error, name string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &tailrace.Error{Code: "53100", Message: fmt.Sprintf("could not write to file \"%s\": No space left on device", name), Hint: "Free some space, or choose another folder.", Err: err}
	case errors.Is(err, syscall.EFBIG):
		return &tailrace.Error{Code: "53100", Message: fmt.Sprintf("could not write to file \"%s\": File too large", name), Hint: "Raise the server's limit: ulimit -f unlimited.", Err: err}
	}
	return err
}

package pebble

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// longLogs makes a file of pebble's write-ahead log as long as it will be when it is begun. Pebble itself reserves the space and lets the length grow with
// each append: then each sync has the length to write, too, in the file system's journal, and takes half as long again. What is beyond the last append is
// zeros, where a file that pebble uses again has what was there before; it takes either for the end.
type longLogs struct{ vfs.FS }

// Create implements vfs.FS.
func (fs longLogs) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, category)
	if err != nil || !strings.HasSuffix(name, ".log") {
		return f, err
	}
	return longLog{f}, nil
}

type longLog struct{ vfs.File }

// Preallocate implements vfs.File. Where it fails pebble goes on without.
func (f longLog) Preallocate(offset, length int64) error {
	return unix.Fallocate(int(f.Fd()), 0, offset, length)
}

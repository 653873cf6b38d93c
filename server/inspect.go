package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"tailrace"
	"tailrace/file"
	"tailrace/log"
	"tailrace/pebble"
	"tailrace/shard"
)

// Inspection is what a data folder, or a backup, holds. Times are microseconds since 1970, sizes bytes. It marshals to JSON.
type Inspection struct {
	Folder      string             `json:"folder"`
	Kind        string             `json:"kind"` // "data" or "backup"
	Format      Format             `json:"format"`
	Log         *LogExtent         `json:"log,omitempty"` // nil for a backup, which has none
	Checkpoint  *CheckpointExtent  `json:"checkpoint,omitempty"`
	Time        tailrace.Time      `json:"time"` // everything up to it is in what follows
	Sessions    log.Standing       `json:"sessions"`
	Catalog     CatalogSummary     `json:"catalog"`
	Collections []CollectionExtent `json:"collections"`
	Parts       []*PartExtent      `json:"parts,omitempty"` // when they were asked for
	IndexBytes  int64              `json:"index_bytes"`     // of the local index's files
	Damage      []string           `json:"damage"`          // what is not as it was written, by name
}

// LogExtent is how far the log reaches.
type LogExtent struct {
	log.Extent
	FromFolder int64 `json:"folder_bytes"` // on disk
}

// CheckpointExtent is the newest checkpoint.
type CheckpointExtent struct {
	Seq   tailrace.SeqNo `json:"seq"`
	Time  tailrace.Time  `json:"time"`
	Bytes int64          `json:"bytes"`
}

// CollectionExtent is a collection with the name of its table.
type CollectionExtent struct {
	Name string `json:"name"` // "" when the catalog does not have it
	shard.Description
}

// RunExtent is a run of a collection.
type RunExtent = shard.RunDescription

// InspectOptions say how much is looked at.
type InspectOptions struct {
	// Parts: every byte of every part that is named is checked, and its footer shown. Without it, only that the part is there, with its size.
	Parts bool
}

// Inspect reads what is in dir and changes nothing. A server may use the folder meanwhile: what is read is then what a crash at that moment would have left. An error says that
// nothing could be read at all; damage is in the result.
func Inspect(ctx context.Context, dir string, o InspectOptions) (*Inspection, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, backupName)); err == nil {
		return inspectBackup(ctx, dir, o)
	}
	for try := 1; ; try++ {
		out, err := inspectData(ctx, dir, o)
		if err == nil && len(out.Damage) == 0 || try == inspectTries || !inUse(dir) {
			return out, err
		}
	}
}

// inspectTries is how often a folder that a server uses is read before what is wrong is believed: files come and go while they are copied.
const inspectTries = 5

// inspectData is Inspect for a data folder.
func inspectData(ctx context.Context, dir string, o InspectOptions) (out *Inspection, err error) {
	format, err := readFormat(dir)
	if err == nil {
		err = format.check("data folder " + dir)
	}
	if err != nil {
		return nil, err
	}
	if !isDataFolder(dir) {
		return nil, fmt.Errorf("%s is no data folder and no backup: it has neither a log nor %s", dir, backupName)
	}
	in := newInspector(dir, "data", format)
	consensus, done, err := copyOfLog(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	blob := file.View(filepath.Join(dir, blobName))
	if err := in.log(ctx, consensus, blob); err != nil {
		return nil, err
	}
	if in.out.Log.FromFolder, err = sizeOf(filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	if in.out.IndexBytes, err = sizeOf(filepath.Join(dir, "index")); err != nil {
		return nil, err
	}
	return in.out, in.finish(ctx, blob, o)
}

// copyOfLog opens a copy of the folder's Consensus, which its own process may have locked. done closes and removes it.
func copyOfLog(dir string) (c *pebble.Consensus, done func() error, err error) {
	tmp, err := os.MkdirTemp("", "tailrace-inspect-")
	if err != nil {
		return nil, nil, fmt.Errorf("copy the log: %w", err)
	}
	remove := func() error { return os.RemoveAll(tmp) }
	for try := 1; ; try++ {
		at := filepath.Join(tmp, fmt.Sprint(try))
		if err = os.CopyFS(at, os.DirFS(filepath.Join(dir, "log"))); err == nil {
			c, err = pebble.Open(at, pebble.Options{Logger: slog.New(slog.DiscardHandler)})
		}
		if err == nil {
			return c, func() error { return errors.Join(c.Close(), remove()) }, nil
		}
		if try == inspectTries || !inUse(dir) {
			return nil, nil, errors.Join(fmt.Errorf("read the log: %w", err), remove())
		}
	}
}

// inspectBackup is Inspect for a backup.
func inspectBackup(ctx context.Context, dir string, o InspectOptions) (*Inspection, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	in := newInspector(dir, "backup", m.Format)
	raw, err := os.ReadFile(filepath.Join(dir, checkpointName))
	if err == nil {
		err = m.Checkpoint.check(raw)
	}
	var c *log.Checkpoint
	if err == nil {
		c, err = log.DecodeCheckpoint(raw)
	}
	if err == nil {
		in.take(c)
		in.out.Sessions, err = log.StandingOf(c)
	}
	if err != nil {
		in.damaged(err)
	}
	view := file.View(filepath.Join(dir, blobName))
	if o.Parts {
		in.sums(ctx, view, m.Parts)
	}
	return in.out, in.finish(ctx, view, o)
}

// sizeOf is the size of all files below dir, in bytes; 0 when it is not there. Files may come and go meanwhile.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var st fs.FileInfo
			if st, err = d.Info(); err == nil {
				n += st.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return n, err
}

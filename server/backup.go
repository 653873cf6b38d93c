package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"tailrace"
	"tailrace/file"
	"tailrace/log"
	"tailrace/shard"
	"tailrace/sql"
)

// BackupProgress is how far a backup or a restore is.
type BackupProgress = sql.BackupProgress

// backup is one that is being made. It is used by one goroutine, which closes it.
type backup struct {
	n        *node
	dir      string
	made     bool // the folder is ours to remove
	blob     *file.Blob
	release  func() // lets parts go
	parts    []shard.PartDescription
	total    int64 // bytes
	manifest Manifest
	complete bool
}

// beginBackup writes the fold of this moment into dir, which must not exist or be empty, and keeps the parts that it names. Close what it returns.
func (n *node) beginBackup(ctx context.Context, dir string) (*backup, error) {
	if err := n.backupTarget(dir); err != nil {
		return nil, err
	}
	b := &backup{n: n, dir: dir, release: n.shards.KeepParts()}
	if err := b.begin(ctx); err != nil {
		return nil, errors.Join(fileError("begin backup", err), b.Close())
	}
	return b, nil
}

func (b *backup) begin(ctx context.Context) error {
	if err := b.makeFolder(); err != nil {
		return err
	}
	c, err := b.n.freshFold(ctx)
	if err != nil {
		return err
	}
	return b.writeFold(b.n.log.Export(c))
}

// startBackup is beginBackup for sessions.
func (n *node) startBackup(ctx context.Context, to string) (sql.Backup, error) {
	b, err := n.beginBackup(ctx, to)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// makeFolder makes the folder and marks it as incomplete.
func (b *backup) makeFolder() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(b.dir, incompleteName), []byte("this backup is not complete\n")); err != nil {
		return err
	}
	b.made = true
	var err error
	b.blob, err = file.Open(filepath.Join(b.dir, blobName), file.Options{})
	return err
}

// freshFold is the fold at an entry that was not applied yet when it is called. What is large is flushed before, if this node keeps house.
func (n *node) freshFold(ctx context.Context) (*log.Checkpoint, error) {
	if n.isKeeper() {
		if err := n.shards.Flush(ctx, n.keep); err != nil && !errors.Is(err, log.ErrFenced) {
			return nil, err
		}
	}
	at := tailrace.SeqNo(n.loop.applied.Load())
	for {
		c, err := n.takeFold(ctx)
		if err != nil || c.Seq > at {
			return c, err
		}
	}
}

// writeFold writes the checkpoint and finds out which parts it names.
func (b *backup) writeFold(c *log.Checkpoint) error {
	raw := c.Encode(nil)
	if err := replaceFile(filepath.Join(b.dir, checkpointName), raw); err != nil {
		return err
	}
	set := shard.New(nil, "", shard.Options{Logger: b.n.options.Logger})
	if err := set.Restore(c.Sections[sectionShards]); err != nil {
		return err
	}
	b.parts = namedParts(set)
	for _, p := range b.parts {
		b.total += p.Bytes
	}
	b.manifest = Manifest{Time: c.Time, Checkpoint: fileOf(checkpointName, raw), PartBytes: b.total, Parts: []BackupFile{}}
	if b.n.folder != nil {
		b.manifest.Format = b.n.folder.format
	}
	b.manifest.Major, b.manifest.Minor, b.manifest.WrittenBy = formatMajor, formatMinor, b.n.options.Version
	return nil
}

// Next copies one part, or completes the backup when all are there, and tells how far it is; io.EOF after that. It implements sql.Backup.
func (b *backup) Next(ctx context.Context) (sql.BackupProgress, error) {
	if b.complete {
		return sql.BackupProgress{}, io.EOF
	}
	if len(b.manifest.Parts) < len(b.parts) {
		if err := b.copyPart(ctx, b.parts[len(b.manifest.Parts)]); err != nil {
			return sql.BackupProgress{}, fileError("copy part to backup", err)
		}
	}
	if len(b.manifest.Parts) == len(b.parts) {
		if err := b.finish(); err != nil {
			return sql.BackupProgress{}, fileError("finish backup", err)
		}
	}
	p := sql.BackupProgress{Time: b.manifest.Time, Parts: int64(len(b.manifest.Parts)), AllParts: int64(len(b.parts)), AllBytes: b.total}
	for _, part := range b.manifest.Parts {
		p.Bytes += part.Bytes
	}
	return p, nil
}

// copyPart brings one part into the backup, as a second name of the same file where the file system can do that, and checks all of it.
func (b *backup) copyPart(ctx context.Context, p shard.PartDescription) error {
	err := file.ErrNoLink
	if from, ok := b.n.stores.Blob.(*file.Blob); ok {
		err = b.blob.Link(ctx, p.Key, from)
	}
	linked := err == nil
	if err != nil && !errors.Is(err, file.ErrNoLink) {
		return err
	}
	raw, err := b.n.stores.Blob.Get(ctx, p.Key, 0, -1)
	if err != nil {
		return err
	}
	if err := verifyPart(ctx, p.Key, p.Bytes, raw); err != nil {
		return err
	}
	if linked {
		b.manifest.LinkedParts++
	} else if err := b.blob.Put(ctx, p.Key, raw); err != nil {
		return err
	}
	b.manifest.Parts = append(b.manifest.Parts, fileOf(p.Key, raw))
	return nil
}

// finish makes a backup of the folder.
func (b *backup) finish() error {
	b.manifest.Made = time.Now().UTC()
	if err := writeJSON(filepath.Join(b.dir, backupName), &b.manifest); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.dir, incompleteName)); err != nil {
		return err
	}
	b.complete = true
	return syncFolder(b.dir)
}

// Close lets the parts go. What there is of a backup that is not complete is removed. It may be called twice.
func (b *backup) Close() error {
	b.release()
	if b.complete || !b.made {
		return nil
	}
	b.made = false
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("remove incomplete backup: %w", err)
	}
	return nil
}

// Backup writes a backup of a data folder that no server uses into the folder to, which must not exist or be empty. told hears how far it is.
func Backup(ctx context.Context, o Options, to string, told func(sql.BackupProgress)) error {
	if !isDataFolder(o.Data) {
		return fmt.Errorf("%s is no data folder: it has no log", o.Data)
	}
	return offline(ctx, o, func(ctx context.Context, n *node) (err error) {
		b, err := n.beginBackup(ctx, to)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Close()) }()
		for {
			p, err := b.Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			told(p)
		}
	})
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tailrace"
	"tailrace/catalog"
	"tailrace/file"
	"tailrace/log"
	"tailrace/pebble"
	"tailrace/shard"
	"tailrace/sql"
)

// RestoreOptions say how a backup becomes a data folder.
type RestoreOptions struct {
	Options
	// ResumeSources leaves sources running. Without it they are paused: the server that was backed up may follow them still, and a slot serves one.
	ResumeSources bool
}

// Restored is what Restore made.
type Restored struct {
	Manifest      *Manifest
	PausedSources []string // names, in order
	PausedSinks   []string // likewise
}

// Restore makes the data folder o.Data, which must not exist or be empty, from the backup in from. Every byte is checked on its way. told hears how far it is. A restore that is cut off
// leaves a folder that no server opens.
func Restore(ctx context.Context, o RestoreOptions, from string, told func(sql.BackupProgress)) (*Restored, error) {
	m, err := readManifest(from)
	if err != nil {
		return nil, err
	}
	f, err := restoreTarget(o.Data)
	if err != nil {
		return nil, err
	}
	err = m.restore(ctx, o.Options, from, f, told)
	if err = errors.Join(err, f.close()); err != nil {
		return nil, fmt.Errorf("restore %s: %w", from, err)
	}
	out := &Restored{Manifest: m}
	err = openRestored(ctx, o, out)
	if err != nil {
		return nil, fmt.Errorf("open restored folder: %w", err)
	}
	return out, nil
}

// restoreTarget locks dir, made if need be, marked as unfinished. Close it.
func restoreTarget(dir string) (*folder, error) {
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("restore into %s: it is not empty: choose a folder that does not exist", dir)
	}
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	f.format = Format{Major: formatMajor, Minor: formatMinor, Required: []string{featureUnfinished}, Environment: sessionName()}
	if err := writeJSON(f.path(formatName), &f.format); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// restore fills the folder f.
func (m *Manifest) restore(ctx context.Context, o Options, from string, f *folder, told func(sql.BackupProgress)) error {
	c, err := m.checkpoint(from, o)
	if err != nil {
		return err
	}
	blob, err := file.Open(f.path(blobName), file.Options{})
	if err != nil {
		return err
	}
	source := file.View(filepath.Join(from, blobName))
	p := sql.BackupProgress{Time: c.Time, AllParts: int64(len(m.Parts)), AllBytes: m.PartBytes}
	for _, part := range m.Parts {
		raw, err := source.Get(ctx, part.Name, 0, -1)
		if err == nil {
			err = part.check(raw)
		}
		if err == nil {
			err = verifyPart(ctx, part.Name, part.Bytes, raw)
		}
		if err == nil {
			err = blob.Put(ctx, part.Name, raw)
		}
		if err != nil {
			return err
		}
		p.Parts++
		p.Bytes += part.Bytes
		told(p)
	}
	if err := m.begin(ctx, o, f, blob, c); err != nil {
		return err
	}
	f.format.Required = []string{featureSinks}
	f.format.WrittenBy = o.withDefaults().Version
	return writeJSON(f.path(formatName), &f.format)
}

// checkpoint reads the backup's fold, and checks that the manifest has the parts that it names.
func (m *Manifest) checkpoint(from string, o Options) (*log.Checkpoint, error) {
	raw, err := os.ReadFile(filepath.Join(from, checkpointName))
	if err != nil {
		return nil, err
	}
	if err := m.Checkpoint.check(raw); err != nil {
		return nil, err
	}
	c, err := log.DecodeCheckpoint(raw)
	if err != nil {
		return nil, err
	}
	if err := catalog.NewFold().Restore(c.Sections[sectionCatalog]); err != nil {
		return nil, err
	}
	set := shard.New(nil, "", shard.Options{Logger: o.withDefaults().Logger})
	if err := set.Restore(c.Sections[sectionShards]); err != nil {
		return nil, err
	}
	has := map[string]int64{}
	for _, part := range m.Parts {
		has[part.Name] = part.Bytes
	}
	for _, part := range namedParts(set) {
		if size, ok := has[part.Key]; !ok || size != part.Bytes {
			return nil, fmt.Errorf("part %s of %d bytes is not in %s: %w", part.Key, part.Bytes, backupName, tailrace.ErrCorrupt)
		}
	}
	return c, nil
}

// begin makes the log.
func (m *Manifest) begin(ctx context.Context, o Options, f *folder, blob *file.Blob, c *log.Checkpoint) error {
	consensus, err := pebble.Open(f.path("log"), pebble.Options{Logger: o.withDefaults().Logger})
	if err != nil {
		return err
	}
	return errors.Join(log.Begin(ctx, consensus, blob, sessionName(), c), consensus.Close())
}

// openRestored starts on the restored folder once, which ends the sessions of the backup's time, and pauses the sources and the sinks.
func openRestored(ctx context.Context, o RestoreOptions, out *Restored) error {
	return offline(ctx, o.Options, func(ctx context.Context, n *node) (err error) {
		if !o.ResumeSources {
			out.PausedSources, err = n.pauseSources(ctx)
		}
		if err == nil {
			out.PausedSinks, err = n.pauseSinks(ctx)
		}
		return err
	})
}

func (n *node) pauseSources(ctx context.Context) (paused []string, err error) {
	sources := n.catalog.Current().Sources
	for _, id := range slices.Sorted(maps.Keys(sources)) {
		if sources[id].Paused {
			continue
		}
		src := *sources[id]
		src.Paused = true
		if err := n.commitChange(ctx, func(*catalog.Catalog) (*catalog.Change, error) { return &catalog.Change{Source: &src}, nil }); err != nil {
			return nil, fmt.Errorf("pause source %s: %w", src.Name, err)
		}
		paused = append(paused, src.Name)
	}
	slices.Sort(paused)
	return paused, nil
}

// pauseSinks pauses the sinks. Their targets may be further than the backup, so they are compared with it, table by table, when they are resumed.
func (n *node) pauseSinks(ctx context.Context) (paused []string, err error) {
	sinks := n.catalog.Current().Sinks
	for _, id := range slices.Sorted(maps.Keys(sinks)) {
		sink := *sinks[id]
		sink.Paused, sink.Resyncs = true, maps.Clone(sink.Resyncs)
		if sink.Resyncs == nil {
			sink.Resyncs = map[catalog.ID]int{}
		}
		for _, table := range sink.Tables {
			sink.Resyncs[table]++
		}
		if err := n.commitChange(ctx, func(*catalog.Catalog) (*catalog.Change, error) { return &catalog.Change{Sink: &sink}, nil }); err != nil {
			return nil, fmt.Errorf("pause sink %s: %w", sink.Name, err)
		}
		paused = append(paused, sink.Name)
	}
	slices.Sort(paused)
	return paused, nil
}

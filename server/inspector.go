package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// inspector gathers an Inspection.
type inspector struct {
	out     *Inspection
	catalog *catalog.Fold
	shards  *shard.Set
	whole   bool // nothing that the folds need was damaged
}

func newInspector(dir, kind string, f Format) *inspector {
	return &inspector{
		out:     &Inspection{Folder: dir, Kind: kind, Format: f, Damage: []string{}, Collections: []CollectionExtent{}},
		catalog: catalog.NewFold(), shards: shard.New(nil, "", shard.Options{Logger: slog.New(slog.DiscardHandler)}), whole: true,
	}
}

// damaged notes what is not as it was written.
func (in *inspector) damaged(err error) {
	in.out.Damage = append(in.out.Damage, err.Error())
}

// log folds the checkpoint and what follows it in the log.
func (in *inspector) log(ctx context.Context, consensus tailrace.Consensus, blob tailrace.Blob) error {
	extent, err := log.Inspect(ctx, consensus, blob, func(c *log.Checkpoint, e *log.Entry) error {
		if e == nil {
			in.take(c)
			return nil
		}
		if !in.whole {
			return nil
		}
		if err := in.apply(e); err != nil {
			in.whole = false
			in.damaged(fmt.Errorf("log entry %d: %w", e.Seq, err))
			return nil
		}
		in.out.Time = e.Time
		return nil
	}, func(err error) {
		in.whole = false
		in.damaged(err)
	})
	in.out.Log = &LogExtent{Extent: *extent}
	in.out.Sessions = extent.Standing
	return err
}

// take begins at a checkpoint; nil is the beginning of everything.
func (in *inspector) take(c *log.Checkpoint) {
	if c == nil {
		return
	}
	in.out.Checkpoint = &CheckpointExtent{Seq: c.Seq, Time: c.Time, Bytes: int64(len(c.Encode(nil)))}
	in.out.Time = c.Time
	for _, section := range []struct {
		name string
		into func([]byte) error
	}{{sectionCatalog, in.catalog.Restore}, {sectionShards, in.shards.Restore}} {
		if err := section.into(c.Sections[section.name]); err != nil {
			in.whole = false
			in.damaged(fmt.Errorf("checkpoint %d, section %s: %w", c.Seq, section.name, err))
		}
	}
}

// apply is what a node's apply loop does to the folds.
func (in *inspector) apply(e *log.Entry) error {
	changes, err := in.catalog.Apply(e)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.After != nil {
			in.shards.Define(c.After.ID, c.After.Columns, c.After.Retain, c.Time)
		} else {
			in.shards.Drop(c.Before.ID, c.Time)
		}
	}
	return in.shards.Apply(e)
}

// finish looks at the folds and at the parts that they name.
func (in *inspector) finish(ctx context.Context, blob tailrace.Blob, o InspectOptions) error {
	in.out.Catalog = summarize(in.catalog.Current())
	tables := in.catalog.Current().Tables
	for _, d := range in.shards.Describe() {
		c := CollectionExtent{Description: d}
		if t := tables[d.ID]; t != nil {
			c.Name = t.Schema + "." + t.Name
		}
		in.out.Collections = append(in.out.Collections, c)
	}
	for _, p := range namedParts(in.shards) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := in.part(ctx, blob, p, o); err != nil {
			in.damaged(err)
		}
	}
	return nil
}

// part checks one part.
func (in *inspector) part(ctx context.Context, blob tailrace.Blob, p shard.PartDescription, o InspectOptions) error {
	if !o.Parts {
		last, err := blob.Get(ctx, p.Key, max(p.Bytes, 1)-1, 2) // one byte more than there should be
		switch {
		case err != nil:
			return fmt.Errorf("part %s: %w", strings.TrimPrefix(p.Key, partFolder), err)
		case len(last) != 1:
			return fmt.Errorf("part %s is not of %d bytes: %w", strings.TrimPrefix(p.Key, partFolder), p.Bytes, tailrace.ErrCorrupt)
		}
		return nil
	}
	raw, err := blob.Get(ctx, p.Key, 0, -1)
	if err != nil {
		return fmt.Errorf("part %s: %w", strings.TrimPrefix(p.Key, partFolder), err)
	}
	extent, err := inspectPart(ctx, p.Key, raw, false)
	if extent != nil {
		in.out.Parts = append(in.out.Parts, extent)
		in.out.Damage = append(in.out.Damage, extent.Damage...)
	}
	if err == nil && int64(len(raw)) != p.Bytes {
		err = fmt.Errorf("part %s has %d bytes instead of %d: %w", strings.TrimPrefix(p.Key, partFolder), len(raw), p.Bytes, tailrace.ErrCorrupt)
	}
	return err
}

// sums checks the parts' SHA-256.
func (in *inspector) sums(ctx context.Context, blob tailrace.Blob, parts []BackupFile) {
	for i := range parts {
		raw, err := blob.Get(ctx, parts[i].Name, 0, -1)
		if err == nil {
			err = parts[i].check(raw)
		}
		if err != nil && ctx.Err() == nil {
			in.damaged(err)
		}
	}
}

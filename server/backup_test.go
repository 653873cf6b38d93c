package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"tailrace/internal/sim"
)

// TestBackupThatIsGivenUpLeavesNothing: closed before it is complete its folder goes, and parts may go again.
func TestBackupThatIsGivenUpLeavesNothing(t *testing.T) {
	n, err := open(t.Context(), Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	dir := filepath.Join(t.TempDir(), "b")
	err = n.inside(t.Context(), func(ctx context.Context) error {
		b, err := n.beginBackup(ctx, dir)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(dir, incompleteName)); err != nil {
			t.Errorf("while it is made: got %v, want it marked as incomplete", err)
		}
		if _, err := n.beginBackup(ctx, dir); err == nil {
			t.Error("a second backup into the same folder: got no error")
		}
		if err := errors.Join(b.Close(), b.Close()); err != nil {
			return err
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after it was given up: got %v, want no folder", err)
		}
		b, err = n.beginBackup(ctx, dir)
		if err != nil {
			return err
		}
		p, err := b.Next(ctx)
		if err != nil || p.Time == 0 {
			t.Errorf("the whole of an empty backup: got %+v, %v", p, err)
		}
		if _, err := b.Next(ctx); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: got %v, want EOF", err)
		}
		return b.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := readManifest(dir); err != nil || m.Checkpoint.Bytes == 0 {
		t.Errorf("manifest: got %+v, %v", m, err)
	}
}

// TestBackupOfGivenStoresIsRestoredIntoAFolder: a node without a folder copies its parts through Blob.
func TestBackupOfGivenStoresIsRestoredIntoAFolder(t *testing.T) {
	s := start(t, Options{Stores: &Stores{Consensus: sim.NewConsensus(), Blob: sim.NewBlob()}, Listen: "127.0.0.1:0"})
	conn, err := connect(t, "postgres://"+s.Postgres+"/postgres")
	if err != nil {
		t.Fatal(err)
	}
	dir, data := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "d")
	for _, statement := range []string{"CREATE TABLE t (a int PRIMARY KEY)", "INSERT INTO t SELECT g FROM generate_series(1, 30000) x(g)", "BACKUP TO '" + dir + "'"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	restored, err := Restore(t.Context(), RestoreOptions{Options: Options{Data: data}}, dir, func(BackupProgress) {})
	if err != nil || len(restored.Manifest.Parts) == 0 || restored.Manifest.LinkedParts != 0 {
		t.Fatalf("restore: got %+v, %v, want parts that are copies", restored, err)
	}
	again := start(t, Options{Data: data})
	if conn, err = connect(t, "postgres://"+again.Postgres+"/postgres"); err != nil {
		t.Fatal(err)
	}
	var count, sum int
	if err := conn.QueryRow(t.Context(), "SELECT count(*), sum(a) FROM t").Scan(&count, &sum); err != nil || count != 30000 || sum != 30000*30001/2 {
		t.Errorf("restored: got %d rows, sum %d, %v", count, sum, err)
	}
	in, err := Inspect(t.Context(), data, InspectOptions{Parts: true})
	if err != nil || len(in.Damage) > 0 || len(in.Parts) == 0 || len(in.Collections) != 1 || in.Collections[0].Name != "public.t" {
		t.Errorf("inspect beside the server: got %+v, %v", in, err)
	}
}

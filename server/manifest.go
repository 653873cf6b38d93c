package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tailrace"
	"tailrace/shard"
	"tailrace/stripe"
)

// A backup is a folder:
//
//	BACKUP.json     what belongs to it: names, sizes, SHA-256. It is written last: a folder without it is no backup
//	INCOMPLETE      while it is being made
//	checkpoint      the fold of the log at one entry: catalog, shards with their memtables, sessions, claims
//	blob/part/...   the parts that the fold names
//
// Nothing of the log is in it: the fold is the state at one time, and a part never changes.
const (
	backupName     = "BACKUP.json"
	incompleteName = "INCOMPLETE"
	checkpointName = "checkpoint"
	blobName       = "blob"
)

// maxManifest bounds BACKUP.json, in bytes: about 5 million parts.
const maxManifest = 1 << 30

// Manifest is BACKUP.json.
type Manifest struct {
	Format                    // of the folder it was made of
	Time        tailrace.Time `json:"time"` // the rows are those of this time, microseconds since 1970
	Made        time.Time     `json:"made"` // by the wall clock
	Checkpoint  BackupFile    `json:"checkpoint"`
	Parts       []BackupFile  `json:"parts"`
	PartBytes   int64         `json:"part_bytes"`
	LinkedParts int           `json:"linked_parts"` // share their bytes on disk with the data folder
}

// BackupFile is one file of a backup.
type BackupFile struct {
	Name   string `json:"name"` // a part's key in Blob
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hex
}

// readManifest reads what belongs to the backup in dir.
func readManifest(dir string) (*Manifest, error) {
	m := &Manifest{}
	err := readJSON(filepath.Join(dir, backupName), maxManifest, m)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, incompleteName)); err == nil {
			return nil, fmt.Errorf("backup %s is incomplete: it was cut off while it was made; take another", dir)
		}
		return nil, fmt.Errorf("%s is no backup: it has no %s", dir, backupName)
	}
	if err != nil {
		return nil, err
	}
	if err := m.check("backup " + dir); err != nil {
		return nil, err
	}
	if m.Major < 1 || m.Checkpoint.Name != checkpointName {
		return nil, fmt.Errorf("%s is damaged: it says format %d.%d and no checkpoint", filepath.Join(dir, backupName), m.Major, m.Minor)
	}
	return m, nil
}

// check tells whether raw is the file's content.
func (b *BackupFile) check(raw []byte) error {
	sum := sha256.Sum256(raw)
	if int64(len(raw)) != b.Bytes || hex.EncodeToString(sum[:]) != b.SHA256 {
		return fmt.Errorf("%s is not as it was backed up: %d bytes with SHA-256 %x, not %d with %s: %w", b.Name, len(raw), sum, b.Bytes, b.SHA256, tailrace.ErrCorrupt)
	}
	return nil
}

// partFolder is what the keys of parts begin with; errors say part anyway.
const partFolder = "part/"

// namedParts lists every part that collections name, once.
func namedParts(set *shard.Set) []shard.PartDescription {
	seen := map[string]bool{}
	var out []shard.PartDescription
	for _, d := range set.Describe() {
		for _, r := range slices.Concat(d.State, d.History) {
			for _, p := range r.Parts {
				if !seen[p.Key] {
					seen[p.Key] = true
					out = append(out, p)
				}
			}
		}
	}
	return out
}

func fileOf(name string, raw []byte) BackupFile {
	sum := sha256.Sum256(raw)
	return BackupFile{Name: name, Bytes: int64(len(raw)), SHA256: hex.EncodeToString(sum[:])}
}

// verifyPart checks every byte of a part.
func verifyPart(ctx context.Context, key string, size int64, raw []byte) error {
	key = strings.TrimPrefix(key, partFolder)
	if int64(len(raw)) != size {
		return fmt.Errorf("part %s has %d bytes instead of %d: %w", key, len(raw), size, tailrace.ErrCorrupt)
	}
	if err := stripe.Verify(ctx, raw); err != nil {
		return fmt.Errorf("part %s: %w", key, err)
	}
	return nil
}

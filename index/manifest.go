package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tailrace"
)

// formatVersion of all that the store holds. A store of another is made again.
const formatVersion = 2

// errEmpty is why a new folder's store cannot be adopted.
var errEmpty = errors.New("it is empty")

// collection is what there is of one, at some moment.
type collection struct {
	mem  *memtable
	runs []run // newest first
	// saved is the State of runs without mem.
	saved State
}

// collections by ID. A map is not changed once it is in a view.
type collections map[tailrace.CollectionID]collection

// with is a copy in which id is c.
func (cs collections) with(id tailrace.CollectionID, c collection) collections {
	out := maps.Clone(cs)
	if out == nil {
		out = collections{}
	}
	out[id] = c
	return out
}

func (s *Store) manifestPath() string { return filepath.Join(s.dir, "manifest") }

// The manifest:
//
//	version u8 | token 16 | collections uvarint | collection ... | crc32c u32
//	collection: id uvarint | State length uvarint | State | runs uvarint | run ...
//	run:        tables uvarint | table ...
//	table:      number uvarint | bytes uvarint | rows uvarint | first key | last key, each after its length uvarint
//
// A collection that was never written to a run is not in it.
func encodeManifest(token string, cs collections) []byte {
	dst := append([]byte{formatVersion}, token...)
	dst = binary.AppendUvarint(dst, uint64(len(cs)))
	for _, id := range slices.Sorted(maps.Keys(cs)) {
		c := cs[id]
		st := c.saved.encode()
		dst = binary.AppendUvarint(dst, uint64(id))
		dst = append(binary.AppendUvarint(dst, uint64(len(st))), st...)
		dst = binary.AppendUvarint(dst, uint64(len(c.runs)))
		for _, r := range c.runs {
			dst = binary.AppendUvarint(dst, uint64(len(r)))
			for _, t := range r {
				for _, v := range []uint64{t.number, uint64(t.size), uint64(t.rows), uint64(len(t.first))} {
					dst = binary.AppendUvarint(dst, v)
				}
				dst = append(dst, t.first...)
				dst = append(binary.AppendUvarint(dst, uint64(len(t.last))), t.last...)
			}
		}
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst, castagnoli))
}

// decodeManifest reads what encodeManifest wrote; the tables are not open. Any error is tailrace.ErrCorrupt.
func decodeManifest(raw []byte) (token string, cs collections, err error) {
	body, ok := rowsOf(raw)
	d := tailrace.ByteReader{Src: body}
	if v := d.Byte(); !ok || v != formatVersion {
		d.Fail("version or checksum")
	}
	token = string(d.Take(tokenBytes))
	cs = collections{}
	for range d.Items(4) {
		id := tailrace.CollectionID(d.Uvarint())
		st, err := decodeState(d.Take(d.Items(1)))
		if err != nil && d.Err == nil {
			return "", nil, err
		}
		c := collection{saved: st}
		for range d.Items(1) {
			r := make(run, d.Items(5))
			for i := range r {
				r[i] = &table{
					number: d.Uvarint(), size: int64(d.Uvarint()), rows: int64(d.Uvarint()),
					first: slices.Clone(d.Take(d.Items(1))), last: slices.Clone(d.Take(d.Items(1))),
				}
			}
			c.runs = append(c.runs, r)
		}
		cs[id] = c
	}
	if err := d.End(); err != nil {
		return "", nil, fmt.Errorf("decode index manifest: %w", err)
	}
	return token, cs, nil
}

// save makes cs what the next start finds: the tables are on disk, their names and the manifest are after it.
func (s *Store) save(cs collections) error {
	saved := maps.Clone(cs)
	maps.DeleteFunc(saved, func(_ tailrace.CollectionID, c collection) bool { return len(c.runs) == 0 && c.saved.High == 0 })
	aside := s.manifestPath() + ".new"
	if err := writeSynced(aside, encodeManifest(s.token, saved)); err != nil {
		return err
	}
	if err := os.Rename(aside, s.manifestPath()); err != nil {
		return err
	}
	return syncFolder(s.dir)
}

func writeSynced(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// found opens what the folder holds and removes what the manifest does not name. Any error means that it is of no use.
func (s *Store) found() (token string, cs collections, err error) {
	raw, err := os.ReadFile(s.manifestPath())
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, errEmpty
	}
	if err != nil {
		return "", nil, err
	}
	if token, cs, err = decodeManifest(raw); err != nil {
		return "", nil, err
	}
	named := map[uint64]bool{}
	for id, c := range cs {
		for _, r := range c.runs {
			for _, t := range r {
				if named[t.number] = true; err == nil {
					err = s.openTable(t)
				}
				s.number.Store(max(s.number.Load(), t.number))
			}
		}
		c.mem = newMemtable(0, c.saved)
		cs[id] = c
	}
	if err == nil {
		err = s.sweep(named)
	}
	if err != nil {
		cs.close()
	}
	return token, cs, err
}

// sweep removes the files that are not named.
func (s *Store) sweep(named map[uint64]bool) error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		stem, isTable := strings.CutSuffix(f.Name(), ".rows")
		n, err := strconv.ParseUint(stem, 10, 64)
		if isTable && err == nil && !named[n] {
			if err := os.Remove(filepath.Join(s.dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// close closes the files of tables that no view has.
func (cs collections) close() {
	for _, c := range cs {
		for _, r := range c.runs {
			for _, t := range r {
				if t.file != nil {
					t.file.Close()
				}
			}
		}
	}
}

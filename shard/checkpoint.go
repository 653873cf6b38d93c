package shard

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"tailrace"
)

// maxSchema bounds a schema's JSON in a checkpoint, in bytes.
const maxSchema = 16 << 20

// Encode is the state of every collection as a checkpoint keeps it, memtables inline. It is called between two calls of Apply.
func (s *Set) Encode() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	dst := appendTime([]byte{encodingVersion}, s.Upper())
	dst = binary.AppendUvarint(dst, uint64(len(s.shards)))
	for _, id := range slices.Sorted(maps.Keys(s.shards)) {
		dst = binary.AppendUvarint(dst, uint64(id))
		dst = appendManifest(dst, s.shards[id].current())
	}
	return dst
}

func appendManifest(dst []byte, m *manifest) []byte {
	schema, err := json.Marshal(m.schema)
	if err != nil {
		panic("a schema that JSON cannot hold: " + err.Error()) // no field has such a type
	}
	dst = appendBytes(dst, schema)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(m.retain))
	dst = appendTime(appendTime(appendTime(dst, m.since), m.flushed), m.folded)
	dst = binary.AppendUvarint(dst, m.merges)
	dst = appendRuns(appendRuns(dst, m.state), m.history)
	dst = binary.AppendUvarint(dst, uint64(len(m.holds)))
	for _, name := range slices.Sorted(maps.Keys(m.holds)) {
		dst = appendTime(appendBytes(dst, []byte(name)), m.holds[name])
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.mem)))
	for _, b := range m.mem {
		dst = appendBytes(appendTime(dst, b.time), b.raw)
	}
	return dst
}

// Restore replaces all collections by what Encode returned; applying the entries that followed it gives the same state again. On error
// nothing is replaced.
func (s *Set) Restore(raw []byte) error {
	d := newDecoder(raw)
	upper := d.time()
	shards := map[tailrace.CollectionID]*Shard{}
	for range d.Count(1 << 24) {
		id := tailrace.CollectionID(d.Uvarint())
		m := d.manifest()
		if d.Err != nil {
			break
		}
		shards[id] = newShard(s, id, m)
	}
	if err := d.end("shards"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards, s.gone = shards, nil
	s.upper.Store(uint64(upper))
	return nil
}

func (d *decoder) manifest() *manifest {
	m := &manifest{schema: d.schema(), retain: time.Duration(d.time())}
	m.since, m.flushed, m.folded = d.time(), d.time(), d.time()
	m.merges = d.Uvarint()
	m.state, m.history = d.runs(), d.runs()
	for range d.Count(1 << 20) {
		if d.Err != nil {
			return m
		}
		if m.holds == nil {
			m.holds = map[string]tailrace.Time{}
		}
		name := string(d.bytes(maxKeyName))
		m.holds[name] = d.time()
	}
	for range d.Count(1 << 30) {
		if d.Err != nil {
			return m
		}
		b := &memBatch{seq: m.nextSeq, time: d.time(), raw: d.bytes(1 << 30)}
		m.mem = append(m.mem, b)
		m.nextSeq++
		m.memSize += len(b.raw)
	}
	return m
}

// schema reads a schema and checks what the package relies on.
func (d *decoder) schema() *tailrace.Schema {
	s := &tailrace.Schema{}
	raw := d.bytes(maxSchema)
	if d.Err != nil {
		return s
	}
	if err := json.Unmarshal(raw, s); err != nil {
		d.Err = fmt.Errorf("schema: %w: %w", tailrace.ErrCorrupt, err)
		return s
	}
	for _, f := range s.Fields {
		if !f.Type.Kind.Valid() {
			d.Fail("column type")
		}
	}
	for _, k := range s.Key {
		if k < 0 || k >= len(s.Fields) {
			d.Fail("key column")
		}
	}
	return s
}

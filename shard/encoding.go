package shard

import (
	"encoding/binary"

	"tailrace"
	"tailrace/log"
)

// The first byte of every payload of this package. A reader refuses another.
const encodingVersion = 1

// compactVersion is the first byte of a merge record that merges history runs with each other.
const compactVersion = 2

// The most that a hostile count may ask for.
const (
	maxKeyName = 1 << 10 // bytes of a blob key or a hold's name
	maxParts   = 1 << 20 // parts of a run
	maxRuns    = 1 << 20 // runs of a list
)

// refRecord is the payload of log.KindRef: runs of one part each, all at the entry's time.
type refRecord struct{ runs []*run }

// flushRecord is the payload of log.KindFlush: the memtable's updates in [lower, upper) are now in runs. It holds only for a memtable that
// begins at lower.
type flushRecord struct {
	lower, upper tailrace.Time
	runs         []*run
}

// mergeRecord is the payload of log.KindMerge: the state's oldest keep runs and then runs are the rows as of folded. It holds only for
// the manifest with this many merges.
type mergeRecord struct {
	merges uint64
	folded tailrace.Time
	keep   int
	runs   []*run
}

// compactRecord is the payload of a log.KindMerge of another version: runs take the place of the history runs whose first parts have the keys
// instead. It holds only where all of those are.
type compactRecord struct {
	instead []string
	runs    []*run
}

// holdRecord is the payload of log.KindHold: the hold called name keeps since at or below at; released when free.
type holdRecord struct {
	name string
	at   tailrace.Time
	free bool
}

func (r *refRecord) encode() []byte {
	return appendRuns([]byte{encodingVersion}, r.runs)
}

func (r *flushRecord) encode() []byte {
	dst := appendTime([]byte{encodingVersion}, r.lower)
	return appendRuns(appendTime(dst, r.upper), r.runs)
}

func (r *mergeRecord) encode() []byte {
	dst := binary.AppendUvarint([]byte{encodingVersion}, r.merges)
	dst = binary.AppendUvarint(appendTime(dst, r.folded), uint64(r.keep))
	return appendRuns(dst, r.runs)
}

func (r *compactRecord) encode() []byte {
	dst := binary.AppendUvarint([]byte{compactVersion}, uint64(len(r.instead)))
	for _, key := range r.instead {
		dst = appendBytes(dst, []byte(key))
	}
	return appendRuns(dst, r.runs)
}

func (r *holdRecord) encode() []byte {
	free := byte(0)
	if r.free {
		free = 1
	}
	return append(appendTime(appendBytes([]byte{encodingVersion}, []byte(r.name)), r.at), free)
}

// SinceRecord is the log record that makes t the oldest readable time of a collection.
func SinceRecord(id tailrace.CollectionID, t tailrace.Time) log.Record {
	return log.Record{Kind: log.KindSince, Collection: id, Payload: appendTime([]byte{encodingVersion}, t)}
}

// HoldRecord is the log record that keeps the since of a collection at or below at until FreeRecord of the same name.
func HoldRecord(id tailrace.CollectionID, name string, at tailrace.Time) log.Record {
	h := holdRecord{name: name, at: at}
	return log.Record{Kind: log.KindHold, Collection: id, Payload: h.encode()}
}

// FreeRecord is the log record that gives up the hold called name.
func FreeRecord(id tailrace.CollectionID, name string) log.Record {
	h := holdRecord{name: name, free: true}
	return log.Record{Kind: log.KindHold, Collection: id, Payload: h.encode()}
}

func decodeRef(raw []byte) (*refRecord, error) {
	d := newDecoder(raw)
	r := &refRecord{runs: d.runs()}
	return r, d.end("ref")
}

func decodeFlush(raw []byte) (*flushRecord, error) {
	d := newDecoder(raw)
	r := &flushRecord{lower: d.time(), upper: d.time(), runs: d.runs()}
	if r.upper < r.lower {
		d.Fail("time range")
	}
	return r, d.end("flush")
}

func decodeMerge(raw []byte) (*mergeRecord, error) {
	d := newDecoder(raw)
	r := &mergeRecord{merges: d.Uvarint(), folded: d.time(), keep: d.Count(maxRuns), runs: d.runs()}
	return r, d.end("merge")
}

// isCompact tells a compactRecord from a mergeRecord.
func isCompact(raw []byte) bool { return len(raw) > 0 && raw[0] == compactVersion }

func decodeCompact(raw []byte) (*compactRecord, error) {
	d := &decoder{tailrace.ByteReader{Src: raw}}
	if v := d.Byte(); v != compactVersion {
		d.Fail("version %d, which this build does not know", v)
	}
	r := &compactRecord{}
	for range d.Count(maxRuns) {
		if d.Err != nil {
			break
		}
		r.instead = append(r.instead, string(d.bytes(maxKeyName)))
	}
	r.runs = d.runs()
	return r, d.end("compaction")
}

func decodeHold(raw []byte) (*holdRecord, error) {
	d := newDecoder(raw)
	r := &holdRecord{name: string(d.bytes(maxKeyName)), at: d.time(), free: d.flag()}
	return r, d.end("hold")
}

func decodeSince(raw []byte) (tailrace.Time, error) {
	d := newDecoder(raw)
	t := d.time()
	return t, d.end("since")
}

func appendTime(dst []byte, t tailrace.Time) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(t))
}

func appendBytes(dst, raw []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(raw))), raw...)
}

func appendRuns(dst []byte, runs []*run) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(runs)))
	for _, r := range runs {
		dst = appendRun(dst, r)
	}
	return dst
}

func appendRun(dst []byte, r *run) []byte {
	dst = appendTime(appendTime(dst, r.lower), r.upper)
	dst = binary.AppendUvarint(dst, uint64(len(r.order)))
	for _, id := range r.order {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.parts)))
	for _, p := range r.parts {
		dst = appendBytes(dst, []byte(p.key))
		dst = binary.AppendUvarint(dst, uint64(p.size))
		dst = binary.AppendUvarint(dst, uint64(p.rows))
		dst = appendTime(dst, p.base)
		dst = append(dst, p.flags)
		dst = appendBytes(appendBytes(dst, p.first), p.last)
	}
	return dst
}

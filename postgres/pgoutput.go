package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"tailrace"
)

// The messages of the plugin pgoutput, protocol version 1, that carry something for us. Formats: PostgreSQL's documentation, "Logical
// Replication Message Formats".
const (
	msgBegin    = 'B'
	msgCommit   = 'C'
	msgRelation = 'R'
	msgInsert   = 'I'
	msgUpdate   = 'U'
	msgDelete   = 'D'
	msgTruncate = 'T'
)

// wire reads a message from the start of b until the first thing that is wrong, which bad remembers.
type wire struct {
	b   []byte
	bad bool
}

func (w *wire) take(n int) []byte {
	if n < 0 || n > len(w.b) {
		w.bad, w.b = true, nil
		return nil
	}
	out := w.b[:n:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) u8() byte {
	if b := w.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (w *wire) u16() uint16 {
	if b := w.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (w *wire) u32() uint32 {
	if b := w.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (w *wire) u64() uint64 {
	if b := w.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (w *wire) str() string {
	i := bytes.IndexByte(w.b, 0)
	if i < 0 {
		w.bad, w.b = true, nil
		return ""
	}
	s := string(w.b[:i])
	w.b = w.b[i+1:]
	return s
}

// err is what was wrong with a message of the given kind, nil when nothing was.
func (w *wire) err(kind string) error {
	if w.bad {
		return fmt.Errorf("pgoutput message %s is short: %w", kind, tailrace.ErrCorrupt)
	}
	return nil
}

// wireRelation is a Relation message: a table as it was when the changes that follow were made.
type wireRelation struct {
	rel      uint32
	schema   string
	name     string
	identity byte // d, n, f, i as pg_class.relreplident
	columns  []wireColumn
}

type wireColumn struct {
	key    bool // part of the replica identity
	name   string
	typeID uint32
	mod    int32
}

// readRelation reads a Relation message without its first byte.
func readRelation(b []byte) (*wireRelation, error) {
	w := wire{b: b}
	r := &wireRelation{rel: w.u32(), schema: w.str(), name: w.str(), identity: w.u8()}
	n := int(w.u16())
	for range n {
		c := wireColumn{key: w.u8()&1 != 0, name: w.str(), typeID: w.u32(), mod: int32(w.u32())}
		if w.bad {
			break
		}
		r.columns = append(r.columns, c)
	}
	if r.schema == "" {
		r.schema = "pg_catalog" // how pgoutput writes that one
	}
	return r, w.err("Relation")
}

// tuple is a row on the wire. Its cells are read one after the other.
type tuple struct {
	w wire
	n int
}

func (w *wire) tuple() tuple {
	n := int(w.u16())
	t := tuple{w: *w, n: n}
	for range n { // step over it
		switch w.u8() {
		case 'n', 'u':
		case 't', 'b':
			w.take(int(int32(w.u32())))
		default:
			w.bad = true
		}
		if w.bad {
			break
		}
	}
	return t
}

// cell is the next cell: its kind (n NULL, u unchanged, t text) and its text, a view into the message.
func (t *tuple) cell() (kind byte, text []byte) {
	kind = t.w.u8()
	if kind == 't' {
		text = t.w.take(int(int32(t.w.u32())))
	}
	return kind, text
}

// wireChange is an Insert, Update or Delete message.
type wireChange struct {
	kind    byte
	rel     uint32
	oldKind byte // K a key, O a whole row, 0 none
	old     tuple
	new     tuple // of Insert and Update
}

// readChange reads a change; b is the whole message.
func readChange(b []byte) (wireChange, error) {
	w := wire{b: b}
	c := wireChange{kind: w.u8(), rel: w.u32()}
	part := w.u8()
	if part == 'K' || part == 'O' {
		c.oldKind, c.old = part, w.tuple()
		part = 0
		if c.kind == msgUpdate {
			part = w.u8()
		}
	}
	switch {
	case c.kind == msgDelete && c.oldKind != 0:
	case c.kind != msgDelete && part == 'N':
		c.new = w.tuple()
	default:
		w.bad = true
	}
	return c, w.err(string(rune(c.kind)))
}

package log

import (
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

func data(c tailrace.CollectionID, keys ...uint64) Record {
	return Record{Kind: KindData, Collection: c, Keys: keys}
}

func reads(c tailrace.CollectionID, keys ...uint64) []Read {
	return []Read{{Collection: c, Keys: keys, Whole: len(keys) == 0}}
}

// The rule that Txn states, one line a case: what was committed at time 100, what is to be committed that read at 99 and at 100.
func TestConflictRules(t *testing.T) {
	whole := Record{Kind: KindRef, Collection: 1, Whole: true}
	ddl := Record{Kind: KindCatalog, Collection: 1, Whole: true}
	user := Record{Kind: KindCatalog, Whole: true}
	for _, c := range []struct {
		name      string
		committed []Record
		reads     []Read
		records   []Record
		want      bool
	}{
		{"same key", []Record{data(1, 5)}, reads(1, 5), nil, true},
		{"one of several keys", []Record{data(1, 5, 6)}, reads(1, 4, 6), nil, true},
		{"other key", []Record{data(1, 5)}, reads(1, 6), nil, false},
		{"same key of another collection", []Record{data(1, 5)}, reads(2, 5), nil, false},
		{"whole read, a key changed", []Record{data(1, 5)}, reads(1), nil, true},
		{"whole read, another collection changed", []Record{data(1, 5)}, reads(2), nil, false},
		{"key read, the whole changed", []Record{whole}, reads(1, 5), nil, true},
		{"key read, unlisted keys changed", []Record{data(1)}, reads(1, 5), nil, true},
		{"blind write of the same key", []Record{data(1, 5)}, nil, []Record{data(1, 5)}, false},
		{"blind write of the whole", []Record{whole}, nil, []Record{data(1, 5)}, false},
		{"write after a DDL of its collection", []Record{ddl}, nil, []Record{data(1, 5)}, true},
		{"reference after a DDL of its collection", []Record{ddl}, nil, []Record{whole}, true},
		{"write after a DDL of another collection", []Record{ddl}, nil, []Record{data(2, 5)}, false},
		{"key read after a DDL", []Record{ddl}, reads(1, 5), nil, true},
		{"DDL after a DDL", []Record{ddl}, reads(0), []Record{ddl}, true},
		{"DDL after a DDL of another collection", []Record{{Kind: KindCatalog, Collection: 2, Whole: true}}, reads(0), []Record{ddl}, true},
		{"DDL after a change of no collection", []Record{user}, reads(0), []Record{ddl}, true},
		{"write after a change of no collection", []Record{user}, nil, []Record{data(1, 5)}, false},
		{"DDL after rows", []Record{data(1, 5)}, reads(0), []Record{ddl}, false},
		{"DDL that read the rows", []Record{data(1, 5)}, append(reads(0), reads(1)...), []Record{ddl}, true},
		{
			"reorganization changes nothing",
			[]Record{{Kind: KindFlush, Collection: 1}, {Kind: KindMerge, Collection: 1}, {Kind: KindSince, Collection: 1}, {Kind: KindHold, Collection: 1}, {Kind: KindPosition, Collection: 1}, {Kind: KindSession}},
			append(reads(1), reads(0)...),
			[]Record{data(1, 5)},
			false,
		},
		{"reorganization relies on nothing", []Record{ddl, whole}, nil, []Record{{Kind: KindFlush, Collection: 1}, {Kind: KindPosition, Collection: 1}}, false},
		{"nothing read or written", []Record{ddl, whole}, nil, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRecent(10)
			r.add(100, c.committed)
			if got := r.conflicts(&Txn{ReadTime: 99, Reads: c.reads, Records: c.records}); got != c.want {
				t.Errorf("read at 99, conflict: got %v, want %v", got, c.want)
			}
			if r.conflicts(&Txn{ReadTime: 100, Reads: c.reads, Records: c.records}) {
				t.Errorf("read at 100, conflict: got true, want false")
			}
			if relies := len(c.reads) > 0 || c.want; relies && !r.conflicts(&Txn{ReadTime: 9, Reads: c.reads, Records: c.records}) {
				t.Errorf("read at 9, before what is remembered, conflict: got false, want true")
			}
		})
	}
}

// Whatever is forgotten for want of space, a conflict is never missed; and while nothing was forgotten none is invented.
func TestForgettingNeverMissesAConflict(t *testing.T) {
	type change struct {
		at     tailrace.Time
		record Record
	}
	rapid.Check(t, func(t *rapid.T) {
		r := newRecent(0)
		r.limit, r.keys.limit = rapid.IntRange(1, 8).Draw(t, "collections"), rapid.IntRange(2, 20).Draw(t, "keys")
		var history []change
		now := tailrace.Time(0)
		draw := func() (tailrace.CollectionID, uint64) {
			return tailrace.CollectionID(rapid.IntRange(1, 10).Draw(t, "collection")), rapid.Uint64Range(0, 6).Draw(t, "key")
		}
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			now += tailrace.Time(rapid.IntRange(1, 3).Draw(t, "step"))
			c, k := draw()
			record := data(c, k)
			record.Whole = rapid.IntRange(0, 9).Draw(t, "whole") == 0
			r.add(now, []Record{record})
			history = append(history, change{now, record})
		}
		for range 20 {
			c, k := draw()
			since := tailrace.Time(rapid.Uint64Range(0, uint64(now)).Draw(t, "since"))
			want := false
			for _, h := range history {
				want = want || h.at > since && h.record.Collection == c && (h.record.Whole || h.record.Keys[0] == k)
			}
			got := r.conflicts(&Txn{ReadTime: since, Reads: reads(c, k)})
			if want && !got {
				t.Fatalf("key %d of %d since %d: got no conflict, want one", k, c, since)
			}
			if got && !want && since >= r.forgot && since >= r.keys.forgot {
				t.Fatalf("key %d of %d since %d: got a conflict, want none; forgot %d %d", k, c, since, r.forgot, r.keys.forgot)
			}
		}
		if len(r.collections) > r.limit || len(r.keys.young)+len(r.keys.old) > r.keys.limit+1 {
			t.Fatalf("remembered: got %d collections, %d keys, want at most %d, %d", len(r.collections), len(r.keys.young)+len(r.keys.old), r.limit, r.keys.limit)
		}
	})
}

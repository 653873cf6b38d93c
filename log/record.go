package log

import "tailrace"

// Kind says which room a record is for. The numbers are stored and never reused.
type Kind uint8

// The kinds of records. The log looks into KindSession and KindClaim and at the keys of the rest; their payloads are opaque to it.
const (
	KindData         Kind = 1  // updates of one collection, inline: tailrace.AppendBatch without times
	KindRef          Kind = 2  // updates of one collection in parts already in Blob (shard's encoding)
	KindCatalog      Kind = 3  // a change of the catalog (catalog's encoding)
	KindFlush        Kind = 4  // memtable to history runs (shard's encoding)
	KindMerge        Kind = 5  // history runs to state runs (shard's encoding)
	KindSince        Kind = 6  // the oldest readable time moves up (shard's encoding)
	KindHold         Kind = 7  // a named claim that keeps since back (shard's encoding)
	KindPosition     Kind = 8  // a source's place in its own log (catalog's encoding)
	KindSession      Kind = 9  // a node's session opens, ends, or tells what it reads
	KindClaim        Kind = 10 // work that runs once is claimed by a session, or given up
	KindSinkProgress Kind = 11 // how far a changefeed is (catalog's encoding)
)

// Record is one thing that a transaction does.
type Record struct {
	Kind       Kind
	Collection tailrace.CollectionID // 0 when it concerns none
	// Keys are hashes (tailrace.AppendKey bytes of the key columns through xxh3) of the keys that a data record changes; Whole stands for
	// all keys: an unkeyed collection, too many to list, or a DDL. Later transactions that read them are in conflict.
	Keys    []uint64
	Whole   bool
	Payload []byte
}

// Read is what a transaction relies on: that since its ReadTime nobody changed these keys, or anything, of a collection.
type Read struct {
	Collection tailrace.CollectionID
	Keys       []uint64
	Whole      bool
}

// Txn is a transaction to be committed: all of its records, or none, at one time.
//
// It is in conflict, and refused with ErrConflict, when a transaction committed after ReadTime changed a key it read or wrote a
// KindCatalog record for a collection that it reads or writes (its rows are encoded for a schema). Every KindCatalog record also
// changes the whole of collection 0, so a DDL reads that: {Collection: 0, Whole: true}. Records that only reorganize (flush, merge, since,
// hold, position, session, claim, sink progress) change no key.
//
// A transaction of work that runs once carries the claim that it runs under, and is refused with ErrFenced when the claim has moved on.
type Txn struct {
	ReadTime tailrace.Time
	Reads    []Read
	Records  []Record
	Claim    Claim // the zero Claim is none
}

// Committed is a transaction in the log.
type Committed struct {
	Time    tailrace.Time
	Records []Record
}

// Entry is one group commit: transactions in time order. An entry without transactions is a tick.
type Entry struct {
	Seq  tailrace.SeqNo
	Txns []Committed
	// Time is the newest committed time once the entry is applied: the last transaction's, or the tick's own. Every collection is then known
	// up to and including Time.
	Time tailrace.Time
}

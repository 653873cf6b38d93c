package budget

import "fmt"

// The names of the shares, as mz_internal.mz_memory and the metrics show them.
const (
	Memtables    = "memtables"    // updates in memory and the log only. Writers wait for a flush before they commit.
	Windows      = "windows"      // recent batches for subscribers. The oldest are evicted and read from the shards.
	Frames       = "frames"       // rows on their way to subscribers. Deliveries get smaller; rows that must be together are refused.
	Snapshots    = "snapshots"    // decoded pieces under cursors. Readers wait; idle cursors give theirs back. A large sort is refused.
	Merges       = "merges"       // what flushes and merges read and write. They wait.
	Query        = "query"        // DuckDB. It spills.
	Index        = "index"        // the local index of keys: directories of its tables are let go, its memtables written.
	Pages        = "pages"        // page groups kept for lookups. The oldest are evicted.
	Transactions = "transactions" // rows and keys that open transactions hold, COPY among them. Rows spill to parts, the rest is refused.
	Ingest       = "ingest"       // transactions of sources on their way in. Reading waits; what is kept of large ones spills.
	Messages     = "messages"     // large messages of clients. Refused.
	Spill        = "spill"        // bytes on disk, not of memory: DuckDB's temporary files. Refused.
	Subscribe    = "subscribe"    // bytes on disk, not of memory: rows of one timestamp that subscriptions must have together. Refused.
)

// rule is how large a share is: percent of the budget, between least and most bytes.
type rule struct {
	name        string
	percent     int64
	least, most int64
	advice      string // the beginning of the hint, a sentence and a space
}

const mib = 1 << 20

// rules cut a budget. The percents come to 100; what a most leaves over is free for the operating system's cache of files.
var rules = []rule{
	{Memtables, 8, 16 * mib, 256 * mib, "Try again in a moment. "},
	{Windows, 6, 4 * mib, 256 * mib, ""},
	{Frames, 5, 12 * mib, 2048 * mib, "Leave out WITHIN TIMESTAMP ORDER BY, or use the table's primary key as the envelope's KEY. "},
	{Snapshots, 10, 24 * mib, 4096 * mib, "Try again in a minute: the table is being written in its new order. "},
	{Merges, 12, 24 * mib, 512 * mib, ""},
	{Query, 26, 64 * mib, 1 << 62, "Read fewer rows at once. "},
	{Index, 6, 15 * mib, 160 * mib, ""},
	{Pages, 3, 4 * mib, 256 * mib, ""},
	{Transactions, 18, 32 * mib, 8192 * mib, "COMMIT sooner, and change fewer rows in one transaction. "},
	{Ingest, 4, 10 * mib, 256 * mib, ""},
	{Messages, 2, 5 * mib, 256 * mib, "Send smaller messages, or load the rows with COPY. "},
}

// Least is the smallest budget, in bytes: the least of all shares.
const Least = 256 * mib

// spillBytes is what DuckDB may put into temporary files, in bytes of disk.
const spillBytes = 8 << 30

// subscribeBytes is what subscriptions may put into temporary files, in bytes of disk.
const subscribeBytes = 1 << 30

// Node is the budget of a node.
type Node struct {
	total  int64
	shares []*Share
	byName map[string]*Share
}

// New cuts total bytes; 0 is Default. Sizes in override stand for those of the table. The error is for a total that is too small.
func New(total int64, override map[string]int64) (*Node, error) {
	if total == 0 {
		total = Default()
	}
	if total < Least {
		return nil, fmt.Errorf("a memory budget of %d bytes is too small: give %d or more (--memory, or GOMEMLIMIT)", total, Least)
	}
	n := &Node{total: total, byName: map[string]*Share{}}
	for _, r := range rules {
		limit := min(max(total/100*r.percent, r.least), r.most)
		if o := override[r.name]; o > 0 {
			limit = o
		}
		n.add(r, limit)
	}
	spill := int64(spillBytes)
	if o := override[Spill]; o > 0 {
		spill = o
	}
	n.add(rule{name: Spill, advice: "Read fewer rows at once. "}, spill)
	rows := int64(subscribeBytes)
	if o := override[Subscribe]; o > 0 {
		rows = o
	}
	n.add(rule{name: Subscribe}, rows)
	return n, nil
}

func (n *Node) add(r rule, limit int64) {
	s := NewShare(r.name, limit)
	s.advice = r.advice
	n.shares, n.byName[r.name] = append(n.shares, s), s
}

// Share is one by name. A nil Node has none.
func (n *Node) Share(name string) *Share {
	if n == nil {
		return nil
	}
	return n.byName[name]
}

// Total is the whole budget, in bytes.
func (n *Node) Total() int64 { return n.total }

// Usage says how the shares stand, in the order of the table.
func (n *Node) Usage() []Usage {
	if n == nil {
		return nil
	}
	out := make([]Usage, len(n.shares))
	for i, s := range n.shares {
		out[i] = s.Usage()
	}
	return out
}

// GoLimit is what the Go runtime should keep its memory below (debug.SetMemoryLimit): the budget without what C code has of it.
func (n *Node) GoLimit() int64 {
	return max(n.total-n.byName[Query].limit-n.byName[Index].limit, Least/2)
}

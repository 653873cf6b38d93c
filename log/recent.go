package log

import "tailrace"

// Budgets of what the log remembers for validation, in bytes. At 10,000 single-key commits a second the keys reach back about a minute.
const (
	recentKeyBytes        = 64 << 20
	recentCollectionBytes = 4 << 20

	keyCost        = 48 // one key in a Go map of 24-byte entries, at its usual load
	collectionCost = 80
)

// recent is what the newest transactions changed, to validate the next ones by. It answers "was this changed after that time" and
// never says no wrongly: of what was forgotten it only keeps the newest time, and everything may have changed until then.
type recent struct {
	keys        *generations
	collections map[tailrace.CollectionID]*touched
	forgot      tailrace.Time // changes of collections up to here may be missing
	limit       int           // collections; a field so that tests make it small
}

// touched is when a collection last changed, and how.
type touched struct {
	any    tailrace.Time // anything in it
	whole  tailrace.Time // all of its keys, or keys that are not known
	schema tailrace.Time // a KindCatalog record
}

// newRecent knows of nothing before since.
func newRecent(since tailrace.Time) *recent {
	return &recent{
		keys: newGenerations(since, recentKeyBytes/keyCost), collections: map[tailrace.CollectionID]*touched{},
		forgot: since, limit: recentCollectionBytes / collectionCost,
	}
}

// add remembers what a transaction committed at t changed. Times only go up.
func (c *recent) add(t tailrace.Time, records []Record) {
	for i := range records {
		r := &records[i]
		switch r.Kind {
		case KindCatalog:
			all := c.touch(0)
			all.any, all.whole = t, t
			if r.Collection != 0 {
				one := c.touch(r.Collection)
				one.any, one.whole, one.schema = t, t, t
			}
		case KindData, KindRef:
			one := c.touch(r.Collection)
			one.any = t
			if r.Whole || len(r.Keys) == 0 {
				one.whole = t
				continue
			}
			for _, k := range r.Keys {
				c.keys.add(keyID{r.Collection, k}, t)
			}
		}
	}
}

func (c *recent) touch(id tailrace.CollectionID) *touched {
	one := c.collections[id]
	if one == nil {
		if len(c.collections) >= c.limit {
			c.forget()
		}
		one = &touched{}
		c.collections[id] = one
	}
	return one
}

// forget drops the collections that changed before the middle of the remembered time, or all of them when that leaves too many.
func (c *recent) forget() {
	newest := c.forgot
	for _, one := range c.collections {
		newest = max(newest, one.any)
	}
	middle := c.forgot + (newest-c.forgot)/2
	for _, upTo := range []tailrace.Time{middle, newest} {
		for id, one := range c.collections {
			if one.any <= upTo {
				delete(c.collections, id)
			}
		}
		c.forgot = upTo
		if len(c.collections) <= c.limit/2 {
			return
		}
	}
}

// conflicts says whether something that txn relies on may have changed after its ReadTime: the rule that Txn states.
func (c *recent) conflicts(txn *Txn) bool {
	for i := range txn.Reads {
		if c.readConflicts(&txn.Reads[i], txn.ReadTime) {
			return true
		}
	}
	for i := range txn.Records {
		r := &txn.Records[i]
		if carriesRows(r) && (txn.ReadTime < c.forgot || c.at(r.Collection).schema > txn.ReadTime) {
			return true
		}
	}
	return false
}

// carriesRows says whether the record was made for one schema of its collection. Those that reorganize or move a position were not.
func carriesRows(r *Record) bool {
	return r.Kind == KindData || r.Kind == KindRef || (r.Kind == KindCatalog && r.Collection != 0)
}

func (c *recent) readConflicts(r *Read, since tailrace.Time) bool {
	one := c.at(r.Collection)
	if since < c.forgot || one.schema > since || one.whole > since {
		return true
	}
	if r.Whole || one.any <= since {
		return one.any > since
	}
	for _, k := range r.Keys {
		if c.keys.changed(keyID{r.Collection, k}, since) {
			return true
		}
	}
	return false
}

func (c *recent) at(id tailrace.CollectionID) touched {
	if one := c.collections[id]; one != nil {
		return *one
	}
	return touched{}
}

// keyID is a key of a collection, by hash. Two keys with one hash are in conflict with each other, which is safe.
type keyID struct {
	collection tailrace.CollectionID
	hash       uint64
}

// generations is a map of when keys last changed that forgets by dropping its older half: no list to keep, nothing to sort.
type generations struct {
	young, old map[keyID]tailrace.Time
	forgot     tailrace.Time // changes up to here may be missing
	newestOld  tailrace.Time // newest change in old
	newest     tailrace.Time
	limit      int // keys in both
}

func newGenerations(since tailrace.Time, limit int) *generations {
	return &generations{young: map[keyID]tailrace.Time{}, old: map[keyID]tailrace.Time{}, forgot: since, newestOld: since, newest: since, limit: limit}
}

func (g *generations) add(k keyID, t tailrace.Time) {
	if len(g.young) >= g.limit/2 {
		g.old, g.young = g.young, map[keyID]tailrace.Time{}
		g.forgot, g.newestOld = g.newestOld, g.newest
	}
	g.young[k], g.newest = t, t
}

// changed says whether k may have changed after since.
func (g *generations) changed(k keyID, since tailrace.Time) bool {
	if since < g.forgot {
		return true
	}
	if t, ok := g.young[k]; ok {
		return t > since
	}
	return g.old[k] > since
}

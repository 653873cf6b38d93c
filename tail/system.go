package tail

import (
	"encoding/hex"
	"fmt"
	"strings"

	"tailrace"
	"tailrace/catalog"
)

// SubscriptionsID is the collection of running subscriptions. It lives in memory only, in the window; its updates take the time of the next
// log entry.
const SubscriptionsID = tailrace.CollectionID(1) << 62

// SubscriptionsTable describes mz_internal.mz_subscriptions as a SUBSCRIBE of it sees it. Figures that change all the time (position, lag) are in List only.
var SubscriptionsTable = &catalog.Table{
	ID: SubscriptionsID, Schema: "mz_internal", Name: "mz_subscriptions",
	Columns: &tailrace.Schema{
		Version: 1, NextColumn: 6, Key: []int{0},
		Fields: []tailrace.Field{
			{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindText)},
			{ID: 2, Name: "session_id", Type: tailrace.TypeOf(tailrace.KindUUID)},
			{ID: 3, Name: "cluster_id", Type: tailrace.TypeOf(tailrace.KindText)},
			{ID: 4, Name: "created_at", Type: tailrace.TypeOf(tailrace.KindTimestamptz)},
			{ID: 5, Name: "referenced_object_ids", Type: tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: "text[]"}},
		},
	},
}

// systemRow is a subscription as a row: there from added until removed (0 while it runs).
type systemRow struct {
	row            *tailrace.Batch
	added, removed tailrace.Time
}

// system is the collection of subscriptions. The tail's mutex guards it.
type system struct {
	rows    map[*listing]*systemRow
	gone    []*systemRow // removed ones that the window still reaches
	pending []*systemRow // updates without a time yet
}

// rowOf is s as a row of SubscriptionsTable.
func rowOf(s *listing) *tailrace.Batch {
	b := tailrace.NewBatch(SubscriptionsTable.Columns, 1)
	b.Cols[0].AppendString(s.name())
	if raw, err := hex.DecodeString(strings.ReplaceAll(s.session, "-", "")); err == nil && len(raw) == 16 {
		b.Cols[1].Append(raw)
	} else {
		b.Cols[1].AppendNull()
	}
	b.Cols[2].AppendString("default")
	b.Cols[3].AppendInt64(s.created.UnixMicro() - epoch)
	var ids []string
	for _, id := range s.tables {
		ids = append(ids, fmt.Sprintf("u%d", id))
	}
	b.Cols[4].AppendString("{" + strings.Join(ids, ",") + "}")
	b.AppendDiff(1)
	return b
}

// epoch is 2000-01-01 in microseconds since 1970: what stored timestamps count from.
const epoch = 946_684_800_000_000

// name is the subscription's id as users see it.
func (s *listing) name() string { return fmt.Sprintf("s%d", s.id) }

// joined and left note that a subscription came or went.
func (t *Tail) joined(s *listing) {
	r := &systemRow{row: rowOf(s)}
	t.system.rows[s] = r
	t.system.pending = append(t.system.pending, r)
}

func (t *Tail) left(s *listing) {
	t.system.pending = append(t.system.pending, t.system.rows[s])
	delete(t.system.rows, s)
}

// stamp gives the pending updates the time of an entry and puts them into the window.
func (t *Tail) stamp(at tailrace.Time) {
	w := t.windows[SubscriptionsID]
	if len(t.system.pending) > 0 {
		w = t.window(SubscriptionsID)
		it := &item{time: at, size: 256 * len(t.system.pending)}
		batch := tailrace.NewBatch(SubscriptionsTable.Columns, len(t.system.pending))
		for _, r := range t.system.pending {
			if r.added == 0 {
				r.added = at
				batch.AppendUpdate(r.row, 0, 1)
				continue
			}
			r.removed = at
			t.system.gone = append(t.system.gone, r)
			batch.AppendUpdate(r.row, 0, -1)
		}
		it.decode.Do(func() { it.batch, it.raw = batch, [][]byte{nil} })
		t.system.pending = nil
		w.items = append(w.items, it)
		w.bytes += it.size
		t.bytes += it.size
		w.wake()
	}
	if w != nil {
		before := w.bytes
		w.trim(at)
		t.bytes -= before - w.bytes
		for len(t.system.gone) > 0 && t.system.gone[0].removed <= w.lower {
			t.system.gone = t.system.gone[1:]
		}
	}
}

// systemSnapshot is the subscriptions that ran at asOf.
func (t *Tail) systemSnapshot(asOf tailrace.Time) *tailrace.Batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := SubscriptionsTable.Columns
	var rows []*tailrace.Batch
	add := func(r *systemRow) {
		if r.added != 0 && r.added <= asOf && (r.removed == 0 || r.removed > asOf) {
			rows = append(rows, r.row)
		}
	}
	for _, r := range t.system.rows {
		add(r)
	}
	for _, r := range t.system.gone {
		add(r)
	}
	for _, r := range t.system.pending { // on its way out, but still there
		if r.added != 0 {
			add(r)
		}
	}
	if len(rows) == 0 {
		return tailrace.NewBatch(s, 0)
	}
	return fold(s, s.SortOrder(), rows)
}

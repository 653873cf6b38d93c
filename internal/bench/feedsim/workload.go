package feedsim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Warehouses of the workload.
const Warehouses = 20

// backlog is how long the workload runs before the feed begins; divided by quick like all durations.
const backlog = 60 * time.Second

// table is a table of the workload: every changed row takes so many bytes.
type table struct {
	name string
	size int64
	hot  bool
}

// The hot tables, in the order of their IDs; cold and idle ones follow.
var hotTables = []table{
	{"stock", 612, true},
	{"order_line", 70, true},
	{"customer", 1310, true},
	{"district", 110, true},
	{"orders", 60, true},
	{"new_order", 30, true},
	{"warehouse", 100, true},
	{"history", 80, true},
}

const (
	stock = iota
	orderLine
	customer
	district
	orders
	newOrder
	warehouse
	history
)

const (
	coldTables = 24
	idleTables = 100
	coldEvery  = 2 * time.Second
)

// phase is a part of the time plan: so many changed rows a second.
type phase struct {
	until time.Duration
	rows  float64
}

// plan is the time plan of 20 minutes, of which every duration is divided by quick.
func plan(quick int) []phase {
	minute := time.Minute / time.Duration(quick)
	return []phase{{5 * minute, 15500}, {8 * minute, 0}, {12 * minute, 9500}, {14 * minute, 2800}, {17 * minute, 9500}, {20 * minute, 2800}}
}

// rows are the changed rows of one table, in the order of their commits.
type rows struct {
	table
	at  []int64  // microseconds; the feed begins at 0
	key []uint32 // hash of the key
}

// workload is what a run feeds. It is read by all runs.
type workload struct {
	tables []*rows
	length time.Duration
	total  int
}

// newWorkload makes the rows of transactions like those of TPC-C: of 100 that write 45 New-Order, 43 Payment, 4 Delivery and 8 that only read.
func newWorkload(quick int, seed uint64) *workload {
	w := &workload{}
	for _, t := range hotTables {
		w.tables = append(w.tables, &rows{table: t})
	}
	phases := plan(quick)
	w.length = phases[len(phases)-1].until
	rng := rand.New(rand.NewPCG(seed, 1))
	add := func(t int, at int64, key uint32) {
		r := w.tables[t]
		if n := len(r.at); n > 0 && at <= r.at[n-1] {
			at = r.at[n-1] + 1 // each row of a table has a time of its own
		}
		r.at, r.key = append(r.at, at), append(r.key, key*2654435761+uint32(t))
	}
	next, order := float64(-backlog.Microseconds())/float64(quick), uint32(0)
	const rowsEach = 18.77 // of a transaction that writes: 17.3 of all
	for _, p := range phases {
		end := float64(p.until.Microseconds())
		if p.rows == 0 {
			next = end
			continue
		}
		for ; next < end; next += rowsEach / p.rows * 1e6 * rng.ExpFloat64() {
			order++
			w.transaction(rng, add, int64(next), order)
		}
	}
	for n := range coldTables {
		r := &rows{table: table{name: "cold", size: 200}}
		for at := int64(n) * coldEvery.Microseconds() / coldTables; at < w.length.Microseconds(); at += coldEvery.Microseconds() {
			r.at, r.key = append(r.at, at), append(r.key, uint32(len(r.at)))
		}
		w.tables = append(w.tables, r)
	}
	for range idleTables {
		w.tables = append(w.tables, &rows{table: table{name: "idle", size: 100}})
	}
	for _, r := range w.tables {
		w.total += len(r.at)
	}
	return w
}

// transaction adds the changed rows of one transaction.
func (w *workload) transaction(rng *rand.Rand, add func(t int, at int64, key uint32), at int64, order uint32) {
	home := uint32(rng.IntN(Warehouses))
	d := home*10 + uint32(rng.IntN(10))
	person := d*3000 + nurand(rng, 1023, 3000)
	switch n := rng.IntN(92); {
	case n < 45:
		add(district, at, d)
		add(orders, at, order)
		add(newOrder, at, order)
		lines := 5 + rng.IntN(11)
		for line := range lines {
			supply := home
			if rng.IntN(100) == 0 { // remote
				supply = uint32(rng.IntN(Warehouses))
			}
			add(orderLine, at, order*16+uint32(line))
			add(stock, at, supply*100_000+nurand(rng, 8191, 100_000))
		}
	case n < 88:
		if rng.IntN(100) < 15 { // of a remote customer
			person = uint32(rng.IntN(Warehouses*10))*3000 + nurand(rng, 1023, 3000)
		}
		add(warehouse, at, home)
		add(district, at, d)
		add(customer, at, person)
		add(history, at, order)
	default:
		for n := range uint32(10) {
			old := order - min(order, 900+n*90)
			add(newOrder, at, old)
			add(orders, at, old)
			for line := range uint32(10) {
				add(orderLine, at, old*16+line)
			}
			add(customer, at, (home*10+n)*3000+nurand(rng, 1023, 3000))
		}
	}
}

// nurand is TPC-C's NURand, from 0 on.
func nurand(rng *rand.Rand, a, n uint32) uint32 {
	return ((rng.Uint32N(a+1) | rng.Uint32N(n)) + 123) % n
}

// upTo is how many rows have a time at or before t.
func (r *rows) upTo(t int64) int {
	n, _ := slices.BinarySearch(r.at, t+1)
	return n
}

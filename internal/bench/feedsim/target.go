package feedsim

import "time"

const (
	connections = 16
	batchRows   = 256
	callTime    = 6 * time.Millisecond
	rowTime     = 17 * time.Microsecond
	hungFrom    = 60 * time.Second
	hungUntil   = 180 * time.Second
)

// delivery is rows of a table that go to the target together, by several connections.
type delivery struct {
	table int
	end   int // rows of the table before it are in this delivery or earlier ones
	left  int // rows that are not in the target yet
}

// chunk is rows of one delivery for one connection, in order.
type chunk struct {
	of          *delivery
	first, last int // their indexes in the table
	rows        int
}

// target is a database with 16 connections, each of which takes batches one after the other. It checks the order of what it gets.
type target struct {
	e        *engine
	w        *workload
	scenario string
	quick    int
	conns    [connections]conn
	acked    func(d *delivery, rows int) // rows are durable
	room     func()                      // a connection has room again
	calls    int
	rows     int64
	seconds  []int64 // rows by second
	sent     []int   // by table
	disorder int
	errors   int
}

type conn struct {
	queue []chunk
	rows  int
	busy  bool
	last  []int // by table: index of the last row that came
}

func newTarget(e *engine, w *workload, scenario string, quick int) *target {
	t := &target{e: e, w: w, scenario: scenario, quick: quick, sent: make([]int, len(w.tables)), seconds: make([]int64, int(w.length/time.Second)+1)}
	for n := range t.conns {
		t.conns[n].last = make([]int, len(w.tables))
	}
	return t
}

// own tells which tables have a connection of their own, and that.
func (t *target) own(table int) (n int, ok bool) {
	switch t.scenario {
	case "S2", "S3", "B1":
		return 0, table == stock
	case "B3":
		return table / customer, table == stock || table == customer // 0 and 1
	}
	return 0, false
}

// connOf is the connection of a row.
func (t *target) connOf(table int, key uint32) int {
	if n, ok := t.own(table); ok {
		return n
	}
	shared := 0
	switch t.scenario {
	case "S2", "S3", "B1":
		shared = 1
	case "B3":
		shared = 2
	}
	return shared + int(key>>8)%(connections-shared)
}

// put gives rows to a connection.
func (t *target) put(n int, c chunk) {
	k := &t.conns[n]
	if c.first < k.last[c.of.table] {
		t.disorder++
	}
	k.last[c.of.table] = c.last + 1
	k.queue = append(k.queue, c)
	k.rows += c.rows
	t.serve(n)
}

// deliver gives rows [from, to) of a table to their connections.
func (t *target) deliver(table, from, to int) *delivery {
	d := &delivery{table: table, end: to, left: to - from}
	var parts [connections]chunk
	r := t.w.tables[table]
	for i := from; i < to; i++ {
		c := &parts[t.connOf(table, r.key[i])]
		if c.rows == 0 {
			c.first = i
		}
		c.last = i
		c.rows++
	}
	for n := range parts {
		if parts[n].rows > 0 {
			parts[n].of = d
			t.put(n, parts[n])
		}
	}
	return d
}

// serve has an idle connection take a batch: what is there, up to the most that is worth it.
func (t *target) serve(n int) {
	k := &t.conns[n]
	if k.busy || k.rows == 0 {
		return
	}
	var batch []chunk
	rows := 0
	for len(k.queue) > 0 && rows < batchRows {
		c := k.queue[0]
		if c.rows > batchRows-rows {
			part := batchRows - rows
			k.queue[0].rows -= part
			batch, rows = append(batch, chunk{of: c.of, rows: part}), rows+part
			break
		}
		batch, rows = append(batch, c), rows+c.rows
		k.queue = k.queue[1:]
	}
	k.rows -= rows
	k.busy = true
	t.calls++
	t.e.after(t.takes(n, rows), func() { t.done(n, batch, rows) })
	if t.room != nil {
		t.room()
	}
}

// takes is how long a call takes.
func (t *target) takes(n, rows int) time.Duration {
	base := callTime + time.Duration(rows)*rowTime
	own := n == 0 || n == 1 && t.scenario == "B3"
	switch {
	case t.scenario == "S2" && n == 0:
		base = time.Duration(rows) * 105 * time.Millisecond / batchRows
	case t.scenario == "S3" && n == 0:
		base = time.Duration(rows) * 316 * time.Millisecond / batchRows
	case (t.scenario == "B1" || t.scenario == "B3") && own, t.scenario == "B2":
		if from, until := hungFrom/time.Duration(t.quick), hungUntil/time.Duration(t.quick); t.e.now >= from && t.e.now < until {
			return until - t.e.now + base
		}
	case t.scenario == "E" && t.e.rng.IntN(100) == 0:
		t.errors++
		base *= 2 // a retryable error, and once more
	}
	return time.Duration(float64(base) * t.e.lognormal(0.15))
}

func (t *target) done(n int, batch []chunk, rows int) {
	t.conns[n].busy = false
	t.rows += int64(rows)
	if s := int(t.e.now / time.Second); s >= 0 && s < len(t.seconds) {
		t.seconds[s] += int64(rows)
	}
	for _, c := range batch {
		t.sent[c.of.table] += c.rows
		c.of.left -= c.rows
		t.acked(c.of, c.rows)
	}
	t.serve(n)
}

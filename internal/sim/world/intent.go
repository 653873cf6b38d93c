package world

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// intent is a transaction that a writer sends. Its mark is in a row that it writes, so the log shows where it is committed, if it is.
type intent struct {
	mark    string
	block   bool // BEGIN ... COMMIT; else one statement
	ops     []*op
	began   uint64  // when the statement that may commit it was sent, by the world's count of events
	ended   uint64  // when it was answered; 0: never
	outcome outcome // as its writer was told
	why     string
	from    int // entries in the log when the first statement was sent
}

// outcome is what a writer knows of its transaction.
type outcome int

const (
	unsent    outcome = iota // what commits was never sent
	refused                  // the answer says that it is not committed
	unknown                  // no answer
	committed                // the answer says that it is
)

func (o outcome) String() string {
	return [...]string{"never sent", "refused", "unknown", "committed"}[o]
}

// verb is what an op does.
type verb int

const (
	put verb = iota
	upsert
	bump
	remove
	mark
	pour
	putAltered
	widen
	narrow
	empty
	look
	undone    // SAVEPOINT, an INSERT, ROLLBACK TO
	tried     // SAVEPOINT, an INSERT, and ROLLBACK TO only if that fails
	kept      // SAVEPOINT, an UPDATE, RELEASE
	offer     // ON CONFLICT DO NOTHING
	returning // RETURNING
	set       // of the tables with two columns
	replace   // DROP and CREATE
	rename
)

// op is a statement of a transaction.
type op struct {
	verb verb
	id   int
	mark string
	rows int    // of pour
	said string // the command tag, or the rows that a look gave

	table string // of set
	name  string // of the renamed table, as the writer knows it
}

const (
	unheard   = "?"         // is said where no answer came
	duplicate = "duplicate" // is said by a tried INSERT of a key that is there
)

// sql is the statement.
func (o *op) sql() string {
	switch o.verb {
	case put:
		return fmt.Sprintf("INSERT INTO k VALUES (%d, 0, '%s')", o.id, o.mark)
	case upsert:
		return fmt.Sprintf("INSERT INTO k VALUES (%d, 0, '%s') ON CONFLICT (id) DO UPDATE SET n = k.n + 1, w = excluded.w", o.id, o.mark)
	case bump:
		return fmt.Sprintf("UPDATE k SET n = n + 1, w = '%s' WHERE id = %d", o.mark, o.id)
	case remove:
		return fmt.Sprintf("DELETE FROM k WHERE id = %d", o.id)
	case mark:
		return fmt.Sprintf("INSERT INTO m VALUES ('%s', %d)", o.mark, o.id)
	case pour:
		return "COPY big FROM STDIN"
	case putAltered:
		return fmt.Sprintf("INSERT INTO a (id, w) VALUES (%d, '%s')", o.id, o.mark)
	case widen:
		return "ALTER TABLE a ADD COLUMN IF NOT EXISTS x int DEFAULT 7"
	case narrow:
		return "ALTER TABLE a DROP COLUMN IF EXISTS x"
	case empty:
		return "TRUNCATE a"
	case look:
		return fmt.Sprintf("SELECT id, n, w FROM k WHERE id = %d", o.id)
	case undone:
		return fmt.Sprintf("SAVEPOINT s; INSERT INTO k VALUES (%d, -1, '%s'); ROLLBACK TO s", o.id, o.mark)
	case tried:
		return fmt.Sprintf("SAVEPOINT s; INSERT INTO k VALUES (%d, 0, '%s')", o.id, o.mark)
	case kept:
		return fmt.Sprintf("SAVEPOINT s; UPDATE k SET n = n + 1, w = '%s' WHERE id = %d; RELEASE s", o.mark, o.id)
	case offer:
		return fmt.Sprintf("INSERT INTO k VALUES (%d, 0, '%s') ON CONFLICT DO NOTHING", o.id, o.mark)
	case returning:
		return fmt.Sprintf("UPDATE k SET n = n + 1, w = '%s' WHERE id = %d RETURNING n", o.mark, o.id)
	case set:
		name := o.table
		switch name {
		case brief:
			return fmt.Sprintf("INSERT INTO h VALUES (%d, '%s', '%s') ON CONFLICT (id) DO UPDATE SET w = excluded.w", o.id, o.mark, pad)
		case renamed:
			name = o.name
		}
		return fmt.Sprintf("INSERT INTO %s VALUES (%d, '%s') ON CONFLICT (id) DO UPDATE SET w = excluded.w", name, o.id, o.mark)
	case replace:
		return "DROP TABLE d; CREATE TABLE d " + twoColumns
	case rename:
		return fmt.Sprintf("ALTER TABLE %s RENAME TO %s", o.name, otherName(o.name))
	}
	panic("no such verb")
}

var pad = strings.Repeat("p", padding)

// otherName is the name of the renamed table that it has not.
func otherName(name string) string {
	if name == renamed {
		return renamedTo
	}
	return renamed
}

// pourRow is row i of a pour.
func (o *op) pourRow(i int) string {
	return row(o.mark+"/"+strconv.Itoa(o.id), i, strings.Repeat(string(rune('a'+i%26)), 40))
}

// data is what a pour copies.
func (o *op) data() string {
	var b strings.Builder
	for i := range o.rows {
		b.WriteString(o.pourRow(i))
		b.WriteByte('\n')
	}
	return b.String()
}

// fold does to m what the statement does, and fails when the model would have said something else than the client was told.
func (o *op) fold(m model) error {
	id := strconv.Itoa(o.id)
	k := m[keyed]
	was, there := k.byKey[id]
	want, err := "", error(nil)
	switch o.verb {
	case put:
		want, err = "INSERT 0 1", k.add(row(o.id, 0, o.mark), 1)
	case offer:
		if want = "INSERT 0 0"; !there {
			want, err = "INSERT 0 1", k.add(row(o.id, 0, o.mark), 1)
		}
	case tried:
		if want = duplicate; !there {
			want, err = "SAVEPOINT INSERT 0 1", k.add(row(o.id, 0, o.mark), 1)
		}
	case upsert:
		want, err = "INSERT 0 1", o.count(k, was)
	case bump, kept, returning:
		if want = "UPDATE 0"; there {
			want, err = "UPDATE 1", o.count(k, was)
		}
		switch {
		case o.verb == kept:
			want = "SAVEPOINT " + want + " RELEASE"
		case o.verb == returning && there:
			want = columns(k.byKey[id])[1] + " " + want
		}
	case remove:
		if want = "DELETE 0"; there {
			want, err = "DELETE 1", k.add(was, -1)
		}
	case mark:
		want, err = "INSERT 0 1", m[bag].add(row(o.mark, o.id), 1)
	case pour:
		want = fmt.Sprintf("COPY %d", o.rows)
		for i := range o.rows {
			if err := m[bulk].add(o.pourRow(i), 1); err != nil {
				return err
			}
		}
	case putAltered:
		want, err = "INSERT 0 1", m[altered].add(row(o.id, o.mark), 1)
	case widen, narrow:
		want = "ALTER TABLE"
	case empty:
		want = "TRUNCATE TABLE"
		m[altered].clear()
	case look:
		want = was
	case undone:
		want = "SAVEPOINT INSERT 0 1 ROLLBACK"
		if there {
			want = duplicate
		}
	case set:
		t, now := m[o.table], row(o.id, o.mark)
		if o.table == brief {
			now = row(o.id, o.mark, pad)
		}
		if was, there := t.byKey[id]; there {
			err = t.add(was, -1)
		}
		want, err = "INSERT 0 1", errors.Join(err, t.add(now, 1))
	case replace:
		want = "DROP TABLE CREATE TABLE"
		m[dropped].clear()
	case rename:
		want = "ALTER TABLE"
	}
	if err == nil && o.said != want && o.said != unheard {
		err = fmt.Errorf("it was answered %q, want %q", o.said, want)
	}
	return err
}

// count is an update of the row was, an insert when that is "".
func (o *op) count(k *table, was string) error {
	n := 0
	if was != "" {
		old, err := strconv.Atoi(strings.Split(was, "\t")[1])
		if err != nil {
			return err
		}
		n = old + 1
		if err := k.add(was, -1); err != nil {
			return err
		}
	}
	return k.add(row(o.id, n, o.mark), 1)
}

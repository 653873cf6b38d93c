package steps

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
)

// people is a table of id, mail and n; its target has mail as a unique key.
func people(keyed bool) *tailrace.SinkTarget {
	s := &tailrace.Schema{NextColumn: 4, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4)},
		{ID: 2, Name: "mail", Type: tailrace.TypeOf(tailrace.KindText)},
		{ID: 3, Name: "n", Type: tailrace.TypeOf(tailrace.KindInt4)},
	}}
	t := &tailrace.SinkTarget{Name: "people", Table: &tailrace.SinkTable{Columns: s}}
	if keyed {
		s.Key, t.Unique = []int{0}, [][]int{{1}}
	}
	return t
}

// person is a row; mail "" is NULL.
type person struct {
	id   int32
	mail string
	n    int32
}

func appendPerson(b *tailrace.Batch, p person, t tailrace.Time, d tailrace.Diff) {
	b.Cols[0].AppendInt32(p.id)
	if p.mail == "" {
		b.Cols[1].AppendNull()
	} else {
		b.Cols[1].AppendString(p.mail)
	}
	b.Cols[2].AppendInt32(p.n)
	b.N++
	b.Times, b.Diffs = append(b.Times, t), append(b.Diffs, d)
}

func personAt(b *tailrace.Batch, i int) person {
	p := person{id: b.Cols[0].Int32s()[i], n: b.Cols[2].Int32s()[i]}
	if !b.Cols[1].IsNull(i) {
		p.mail = string(b.Cols[1].Bytes(i))
	}
	return p
}

// apply does to a target's rows what the steps say, statement by statement, minding its keys as a server does.
func apply(rows map[person]int, list []tailrace.SinkStep, keyed bool) error {
	find := func(id int32) (person, bool) {
		for p := range rows {
			if p.id == id {
				return p, true
			}
		}
		return person{}, false
	}
	for _, st := range list {
		for i := range st.Rows.N {
			p := personAt(st.Rows, i)
			switch {
			case !keyed && st.Kind == tailrace.SinkDelete:
				if rows[p] -= int(st.Rows.Diff(i)); rows[p] < 0 {
					return fmt.Errorf("delete of %v: there are too few", p)
				} else if rows[p] == 0 {
					delete(rows, p)
				}
			case !keyed:
				rows[p] += int(st.Rows.Diff(i))
			case st.Kind == tailrace.SinkDelete:
				old, there := find(p.id)
				if !there {
					return fmt.Errorf("delete of id %d: it is not there", p.id)
				}
				delete(rows, old)
			default:
				if old, there := find(p.id); there {
					delete(rows, old)
				}
				for other := range rows {
					if p.mail != "" && other.mail == p.mail {
						return fmt.Errorf("upsert of %v: %v has the mail", p, other)
					}
				}
				rows[p] = 1
			}
		}
	}
	return nil
}

func TestStepsBringATargetToTheSameRows(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		target := people(true)
		here, there := map[int32]person{}, map[person]int{}
		clock := tailrace.Time(1)
		for range 20 {
			b := tailrace.NewBatch(target.Table.Columns, 0)
			for range 1 + rng.IntN(6) { // times of one batch
				clock++
				before := maps.Clone(here)
				for range 1 + rng.IntN(5) {
					id := int32(rng.IntN(8))
					if rng.IntN(3) == 0 {
						delete(here, id)
						continue
					}
					here[id] = person{id, fmt.Sprintf("m%d", rng.IntN(10))[:2*rng.IntN(2)], int32(rng.IntN(3))}
				}
				taken := map[string]bool{} // mails are unique here too
				for _, id := range slices.Sorted(maps.Keys(here)) {
					if p := here[id]; taken[p.mail] {
						p.mail = ""
						here[id] = p
					} else if p.mail != "" {
						taken[p.mail] = true
					}
				}
				for id := range int32(8) {
					old, was := before[id]
					now, is := here[id]
					if was == is && old == now {
						continue
					}
					plusFirst := rng.IntN(2) == 0
					if is && plusFirst {
						appendPerson(b, now, clock, 1)
					}
					if was {
						appendPerson(b, old, clock, -1)
					}
					if is && !plusFirst {
						appendPerson(b, now, clock, 1)
					}
				}
			}
			list, err := Of(target, All(b))
			if err == nil {
				err = apply(there, list, true)
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		want := map[person]int{}
		for _, p := range here {
			want[p] = 1
		}
		if !maps.Equal(there, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, there, want)
		}
	}
}

func TestStepsOfATableWithoutAKeyAreNet(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		target := people(false)
		here, there := map[person]int{}, map[person]int{}
		for clock := range tailrace.Time(20) {
			b := tailrace.NewBatch(target.Table.Columns, 0)
			for range rng.IntN(10) {
				p := person{int32(rng.IntN(3)), [...]string{"", "a"}[rng.IntN(2)], 0}
				d := 1 + rng.IntN(3)
				if rng.IntN(2) == 0 {
					d = -rng.IntN(here[p] + 1)
				}
				if d == 0 {
					continue
				}
				if here[p] += d; here[p] == 0 {
					delete(here, p)
				}
				appendPerson(b, p, clock, tailrace.Diff(d))
			}
			list, err := Of(target, All(b))
			if err == nil {
				err = apply(there, list, false)
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if !maps.Equal(there, here) {
			t.Fatalf("seed %d: got %v, want %v", seed, there, here)
		}
	}
}

func TestTwoRowsOfOneKeyAreAnError(t *testing.T) {
	target := people(true)
	b := tailrace.NewBatch(target.Table.Columns, 0)
	appendPerson(b, person{1, "a", 1}, 5, 1)
	appendPerson(b, person{1, "b", 1}, 5, 1)
	if _, err := Of(target, All(b)); err == nil {
		t.Error("two rows of one key at one time: got no error")
	}
}

func TestOrderOfTablesThatReferToEachOther(t *testing.T) {
	table := func(name string, unique bool, parents ...string) *tailrace.SinkTarget {
		out := &tailrace.SinkTarget{Name: name}
		if unique {
			out.Unique = [][]int{{0}}
		}
		for _, p := range parents {
			out.Foreign = append(out.Foreign, tailrace.SinkForeign{Parent: p})
		}
		return out
	}
	both := func(t *tailrace.SinkTarget) []tailrace.SinkStep {
		return []tailrace.SinkStep{{Kind: tailrace.SinkDelete, Target: t}, {Kind: tailrace.SinkUpsert, Target: t}}
	}
	child, parent, other := table("child", false, "parent"), table("parent", true), table("other", false)
	late := table("late", false)
	nephew := table("nephew", false, "late")
	var got []string
	for _, st := range Order([][]tailrace.SinkStep{both(nephew), both(child), both(other), both(parent), both(late), nil}) {
		got = append(got, fmt.Sprintf("%s %d", st.Target.Name, st.Kind))
	}
	place := func(s string) int { return slices.Index(got, s) }
	for _, pair := range [][2]string{
		{"child 3", "parent 3"}, {"parent 3", "parent 1"}, {"parent 1", "child 1"}, {"late 1", "nephew 1"}, {"nephew 1", "late 3"}, {"other 3", "other 1"}, {"nephew 3", "late 3"},
	} {
		if place(pair[0]) < 0 || place(pair[0]) > place(pair[1]) {
			t.Errorf("got %v, want %s before %s", got, pair[0], pair[1])
		}
	}
	a, b := table("a", false, "b"), table("b", false, "a") // a circle
	if n := len(Order([][]tailrace.SinkStep{both(a), both(b)})); n != 4 {
		t.Errorf("a circle: got %d steps, want 4", n)
	}
}

func BenchmarkOf(b *testing.B) {
	target := people(true)
	updates := tailrace.NewBatch(target.Table.Columns, 0)
	for i := range int32(2000) {
		appendPerson(updates, person{i, fmt.Sprintf("mail %d", i), 1}, tailrace.Time(i+1), -1)
		appendPerson(updates, person{i, fmt.Sprintf("mail %d", i), 2}, tailrace.Time(i+1), 1)
	}
	b.SetBytes(int64(updates.Size()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(target, All(updates)); err != nil {
			b.Fatal(err)
		}
	}
}

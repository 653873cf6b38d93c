package steps

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tailrace"
)

// staff is a table of id and boss, which refers to the id of another row; 0 is NULL.
func staff() *tailrace.SinkTarget {
	s := &tailrace.Schema{NextColumn: 3, Key: []int{0}, Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4)}, {ID: 2, Name: "boss", Type: tailrace.TypeOf(tailrace.KindInt4)},
	}}
	t := &tailrace.SinkTarget{Name: "staff", Table: &tailrace.SinkTable{Columns: s}}
	t.Foreign = []tailrace.SinkForeign{{Columns: []int{1}, Parent: "staff", To: []string{"ID"}}}
	return t
}

// applyStaff does what steps say row by row, as a server that checks each; the rows of a delete in an order of its own.
func applyStaff(rng *rand.Rand, rows map[int32]int32, list []tailrace.SinkStep) error {
	for _, st := range list {
		order := make([]int, st.Rows.N)
		for i := range order {
			order[i] = i
		}
		if st.Kind == tailrace.SinkDelete {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, i := range order {
			id := st.Rows.Cols[0].Int32s()[i]
			if st.Kind == tailrace.SinkDelete {
				for other, boss := range rows {
					if boss == id && other != id {
						return fmt.Errorf("delete of %d: %d refers to it", id, other)
					}
				}
				delete(rows, id)
				continue
			}
			boss := int32(0)
			if !st.Rows.Cols[1].IsNull(i) {
				boss = st.Rows.Cols[1].Int32s()[i]
			}
			if _, there := rows[boss]; boss != 0 && boss != id && !there {
				return fmt.Errorf("upsert of (%d, %d): there is no %[2]d", id, boss)
			}
			rows[id] = boss
		}
	}
	return nil
}

// TestRowsThatReferToOthersComeAfterThem: a random forest becomes another one, in transactions without a circle, whatever the order of their updates.
func TestRowsThatReferToOthersComeAfterThem(t *testing.T) {
	target := staff()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		have := map[int32]int32{}
		for at := tailrace.Time(1); at < 8; at++ {
			want := map[int32]int32{}
			ids := rng.Perm(1 + rng.IntN(40))
			for i, n := range ids {
				want[int32(n+1)] = 0
				if i > 0 && rng.IntN(3) > 0 {
					want[int32(n+1)] = int32(ids[rng.IntN(i)] + 1)
				}
			}
			b := tailrace.NewBatch(target.Table.Columns, 0)
			add := func(id, boss int32, d tailrace.Diff) {
				b.Cols[0].AppendInt32(id)
				if boss == 0 {
					b.Cols[1].AppendNull()
				} else {
					b.Cols[1].AppendInt32(boss)
				}
				b.Times, b.Diffs = append(b.Times, at), append(b.Diffs, d)
				b.N++
			}
			for id := range int32(41) {
				before, was := have[id]
				after, is := want[id]
				if was && (!is || before != after) {
					add(id, before, -1)
				}
				if is && (!was || before != after) {
					add(id, after, 1)
				}
			}
			list, err := Of(target, All(b))
			if err == nil {
				err = applyStaff(rng, have, Order([][]tailrace.SinkStep{list}))
			}
			if err != nil {
				t.Fatalf("seed %d, at %d: %v", seed, at, err)
			}
			if fmt.Sprint(have) != fmt.Sprint(want) {
				t.Fatalf("seed %d, at %d: got %v, want %v", seed, at, have, want)
			}
		}
	}
}

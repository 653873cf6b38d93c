package bench

import "testing"

func TestCopyRowIsReadFromItsLine(t *testing.T) {
	for line, want := range map[string]copyRow{
		"1796000000000001\tf\t1\t7\t1795000000000000\txx\n": {at: 1796000000000001, diff: 1, columns: []byte("7\t1795000000000000\txx\n")},
		"12\tf\t-2\ta\n":         {at: 12, diff: -2, columns: []byte("a\n")},
		"13\tt\t\\N\t\\N\t\\N\n": {at: 13, progress: true, columns: []byte("\\N\t\\N\n")},
	} {
		got := readCopyRow([]byte(line))
		if got.at != want.at || got.progress != want.progress || got.diff != want.diff || string(got.columns) != string(want.columns) {
			t.Errorf("%q: got %+v, want %+v", line, got, want)
		}
	}
	if due := readCopyRow([]byte("3\tf\t1\t7\t1795000000000000\txx\n")).due(); due != 1795000000000000 {
		t.Errorf("got due %d", due)
	}
}

// TestTallyIsTheSameWhereverItIsCut: a client that is cut off after any row, and resumes, has counted what one has that never was.
func TestTallyIsTheSameWhereverItIsCut(t *testing.T) {
	rows := []copyRow{
		{at: 10, progress: true},
		{at: 10, diff: 1, columns: []byte("1\ta\n")},
		{at: 10, diff: 1, columns: []byte("2\tb\n")},
		{at: 11, progress: true},
		{at: 12, diff: -1, columns: []byte("1\ta\n")},
		{at: 12, diff: 1, columns: []byte("1\tc\n")},
		{at: 14, diff: 2, columns: []byte("3\td\n")},
		{at: 15, progress: true},
	}
	var want rowSum
	want.add(1, []byte("2\tb\n"))
	want.add(1, []byte("1\tc\n"))
	want.add(2, []byte("3\td\n"))
	for cut := 4; cut <= len(rows); cut++ { // with the snapshot complete
		var got tally
		for _, r := range rows[:cut] {
			got.take(r)
		}
		got.forget()
		from := got.progress // AS OF from-1: what the server has from there on
		for _, r := range rows {
			if r.at >= from && !(r.progress && r.at == from) {
				got.take(r)
			}
		}
		if got.sure != want || got.progress != 15 {
			t.Errorf("cut after %d rows: got %+v up to %d, want %+v", cut, got.sure, got.progress, want)
		}
	}
}

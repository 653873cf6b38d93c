package stripe

import (
	"bytes"
	"sort"
)

// separate makes the border between a group whose last row key is last and the next, whose first is first. It is the shortest start of
// first that is above last, so that a seek for a key meets the group that holds it and not the one before. Equal keys cannot be told apart.
func separate(last, first []byte) GroupMeta {
	n := 0
	for n < min(len(last), len(first)) && last[n] == first[n] {
		n++
	}
	switch {
	case n == len(first) && n <= MaxKeyBytes:
		return GroupMeta{Bound: first}
	case n < MaxKeyBytes && n < len(first):
		return GroupMeta{Bound: first[: n+1 : n+1], Strict: true}
	}
	return GroupMeta{Bound: cutHigh(first, MaxKeyBytes), Strict: true} // both begin alike for MaxKeyBytes
}

// SeekGroup is the first group that can hold an update whose row key (tailrace.AppendRowKey, or a prefix of one) is at least rowKey; Groups()
// when there is none. It is never late. It is at most one group early, or more when neighbouring groups begin with the same MaxKeyBytes.
func (r *Reader) SeekGroup(rowKey []byte) int {
	stripes := r.footer.Stripes
	i := sort.Search(len(stripes), func(i int) bool { return bytes.Compare(stripes[i].LastKey, rowKey) >= 0 })
	if i == len(stripes) {
		return r.Groups()
	}
	groups := stripes[i].Groups[1:]
	return r.firstGroup[i] + sort.Search(len(groups), func(g int) bool {
		c := bytes.Compare(groups[g].Bound, rowKey)
		return c > 0 || c == 0 && !groups[g].Strict
	})
}

package sql

import (
	"strconv"

	"tailrace/budget"
)

// subscribeBytes is what all subscriptions of a node may have together, as SHOW prints it: of memory (frames, windows, pieces of snapshots), and of disk for rows
// that must be together. It is 0 without a budget.
func subscribeBytes(n *budget.Node) (memory, spill string) {
	sum := int64(0)
	for _, name := range []string{budget.Frames, budget.Windows, budget.Snapshots} {
		sum += n.Share(name).Limit(0)
	}
	return strconv.FormatInt(sum, 10), strconv.FormatInt(n.Share(budget.Subscribe).Limit(0), 10)
}

package tail

import "tailrace"

// blockItems is how many items of a window make a block. One who catches up takes whole blocks, each a frame that was made once: a look at every item would cost more than
// what it sends of most.
const blockItems = 64

// append adds the next item. Each block'th begins a block: it and those that follow it.
func (w *window) append(it *item, block int) {
	if w.count%block == 0 {
		it.block = &sharing{}
	}
	w.count++
	w.items = append(w.items, it)
	w.bytes += it.size
}

// readBlock adds the rows of the block that items begin with, as a frame, and returns how many items that were: 0 when they begin with none, or with one that is better
// read item by item.
func (s *Subscription) readBlock(out *output, items []*item, most int) int {
	first := items[0]
	routed := s.shape.sel != nil && s.shape.sel.Equal != nil // most items do not concern it
	if first.block == nil || len(items) < s.tail.blocks || out.wire == nil || out.N > 0 || routed {
		return 0
	}
	items = items[:s.tail.blocks]
	size := 0
	for _, it := range items {
		if size += it.size; it.ref || size > most {
			return 0
		}
	}
	f, err := first.block.frame(s.tail.cache, out.wire, 0, func(rows *tailrace.Batch) error {
		for _, it := range items {
			if err := s.shape.appendItem(rows, it); err != nil {
				return err
			}
		}
		return nil
	})
	if f == nil || err != nil { // the rows before the error come first
		return 0
	}
	out.add(f)
	return len(items)
}

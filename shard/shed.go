package shard

import "context"

// A Writer takes what it holds of the share for transactions. When it gets no more, it first waits for what it cut to be in Blob; when that is not enough it sheds: it
// cuts what it has, however little, and begins with nothing. So a transaction may be as large as the disk, and many at a time are slow rather
// than refused. That is the one case in which stripes are cut elsewhere than the rows alone would have it.

const (
	// uncounted is what a writer holds without asking, in bytes: most transactions change a few rows.
	uncounted = 16 << 10
	// sortFactor is how many times what is gathered is in memory when it is cut: itself, sorted, and the keys.
	sortFactor = 3
)

// need is what the writer holds, and will until all of it is in parts, in bytes.
func (w *Writer) need() int64 {
	n := int64(w.rows.bytes())
	if w.load == nil {
		if n < uncounted {
			return 0
		}
		return sortFactor * n
	}
	return sortFactor*n + w.load.size()
}

// claim takes what the writer needs, or sheds. Beyond a little it leaves half of the share to what cannot be put into parts, such as sets of keys.
func (w *Writer) claim(ctx context.Context) error {
	if w.granted() {
		return nil
	}
	if w.load != nil {
		if err := w.load.drain(ctx); err != nil {
			return w.failed(err)
		}
		if w.granted() {
			return nil
		}
	}
	return w.shed(ctx)
}

func (w *Writer) granted() bool {
	need := w.need()
	return w.grant.Set(need) && (!w.grant.Crowded() || need <= sortFactor*int64(w.set.limits.inline))
}

// shed puts everything into parts and lets go of the memory.
func (w *Writer) shed(ctx context.Context) error {
	if err := w.Cut(ctx); err != nil {
		return err
	}
	w.grant.Free()
	return nil
}

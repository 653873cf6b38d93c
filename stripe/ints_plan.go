package stripe

import "slices"

// intPlan says how the integers of a chunk are kept: the nodes from the root on, by their depth; what is below them is a leaf, and so are the
// other children of a node. The zero plan is a leaf.
type intPlan struct {
	nodes  [maxIntDepth - 1]encoding
	form   decimalForm // of ALP
	low    uint8       // bits, of SPLIT
	mostly bool        // SPARSE patches all but most, else outliers
	most   int64
}

// minPlannedRows is how many rows a chunk must have for a plan to be made: in fewer there is too little to save.
const minPlannedRows = 64

// decideInts makes the plan of a chunk of integers.
func (e *encoder) decideInts(_ *sample, c *chunk) intPlan {
	return e.planned(c, c.width(), 0, e.readInts(c))
}

// decideDecimals is decideInts of the unscaled values of numerics, which have DECIMAL above them: their nodes begin at depth 1.
func (e *encoder) decideDecimals(_ *sample, c *chunk) intPlan {
	return e.planned(c, 8, 1, e.readInts(c))
}

// decideLengths is decideInts of the lengths of texts.
func (e *encoder) decideLengths(c *chunk) intPlan {
	return e.planned(c, 4, 1, func(g *columnRows, _, from, to int) []int64 {
		e.load(c.typ.Kind, g.col, g.from+from, g.from+to)
		return e.texts.size
	})
}

// decideCodes is decideInts of the codes of texts, which has those of all rows of c.
func (e *encoder) decideCodes(c *chunk, codes []uint16) intPlan {
	return e.planned(c, 2, 1, func(g *columnRows, at, from, to int) []int64 {
		e.loadValid(g.col, g.from+from, to-from)
		e.ints = slices.Grow(e.ints[:0], to-from)[:to-from]
		widen(e.ints, codes[at+from:at+to])
		if e.nulls > 0 {
			e.ints = e.ints[:squeeze(e.ints, e.bitmap)]
		}
		return e.ints
	})
}

// planned is the plan of integers of c, values of width bytes whose root is at depth.
func (e *encoder) planned(c *chunk, width, depth int, read readRows) intPlan {
	var p intPlan
	if c.rows >= minPlannedRows {
		e.best(e.loadPieces(c, read), width, depth, &p)
	}
	return p
}

// appendInner adds the stream of v, values of width bytes: what a root of another kind consists of, or a front page. They find out by themselves what suits
// them.
func (e *encoder) appendInner(dst []byte, v []int64, width int) []byte {
	if len(v) < minPlannedRows || len(v) > PageRows {
		return appendLeaf(dst, v, width)
	}
	var plan intPlan
	e.best(e.piecesOf(v), width, 1, &plan)
	var f frames
	f.measure(v)
	return e.appendNode(dst, v, &f, width, &plan, 1)
}

// decideFloats is decideInts of the bits of floats: as decimals if nearly all of them are, else as integers, of which the low bits may be random.
func (e *encoder) decideFloats(_ *sample, c *chunk) intPlan {
	var best intPlan
	if c.rows < minPlannedRows {
		return best
	}
	q := e.loadPieces(c, e.readInts(c))
	if len(q.values) == 0 {
		return best
	}
	width := c.width()
	decimals, decimalSize, wrong := e.decideALP(q, width)
	if decimalSize > 0 && wrong <= len(q.values)/50 {
		return decimals
	}
	size := e.best(q, width, 0, &best)
	if decimalSize > 0 && saves(decimalSize, size) {
		best, size = decimals, decimalSize
	}
	if 10*size > 7*width*q.page {
		if split, n := e.decideSplit(q, width); saves(n, size) {
			best = split
		}
	}
	return best
}

package stripe

import "encoding/binary"

// Integers of every width, times, diffs, the bits of floats, lengths and dictionary codes are all streams of integers. Leaves have no streams in
// them:
//
//	CONST   value i64
//	RAW     param bytes a value (1, 2, 4, 8)
//	FOR     for each vector of 1,024: base i64; for each: width u8; then the packed differences to the base, see bitpack.go
//	BITS    a bit a value, which is 0 or 1
//
// The others turn the values into ones that are fewer or lie nearer to one another, and keep those as streams in turn:
//
//	DELTA   first value i64 | differences between neighbours
//	DELTA2  first value i64 | first difference i64 | differences between neighbouring differences
//	RLE     length of each run of equal values | value of each run
//	DICT    the different values in order of first appearance | a code for each value
//	SPARSE  the values, where a few are wrong | how many right ones lie before each wrong one | the wrong ones as they should be
//	ALP     floats as decimal integers | SPARSE's patches
//	SPLIT   the high bits of each value | the low bits of each
//
// Arithmetic wraps around, in int64 when encoding and in the column's own width when decoding, which comes to the same bits. Which of them a
// chunk has is decided from its sample, see intPlan; a page for which that saves too little has a leaf.

// maxIntDepth is how many nodes lie between a root stream of integers and the deepest leaf, both counted.
const maxIntDepth = 3

// frames is what FOR needs to know of a page's integers: the extremes of each vector of 1,024 values and of all.
type frames struct {
	low, high       int64
	lows, highs     [PageRows / vectorRows]int64
	vectors, forLen int // forLen is the size of the body of the FOR stream in bytes
}

// measure finds the frames of v, at most PageRows values and at least one.
func (f *frames) measure(v []int64) {
	*f = frames{low: v[0], high: v[0]}
	for ; len(v) > 0; f.vectors++ {
		n := min(len(v), vectorRows)
		low, high := span(v[:n])
		f.lows[f.vectors], f.highs[f.vectors] = low, high
		f.low, f.high = min(f.low, low), max(f.high, high)
		f.forLen += 9 + packedLen(n, widthOf(low, high))
		v = v[n:]
	}
}

// leaf is the encoding that the leaf of n values of width bytes has, and the size of its body.
func (f *frames) leaf(n, width int) (encoding, int) {
	switch {
	case f.low == f.high:
		return encConst, 8
	case width == 1 && f.low == 0 && f.high == 1:
		return encBits, (n + 7) / 8
	case f.forLen < width*n:
		return encFOR, f.forLen
	}
	return encRaw, width * n
}

// uneven reports whether some vectors are so much narrower than others that these probably have a few outliers.
func (f *frames) uneven() bool {
	least, most := 64, 0
	for i := range f.vectors {
		w := widthOf(f.lows[i], f.highs[i])
		least, most = min(least, w), max(most, w)
	}
	return 2*most > 3*least+8
}

// numberScratch is the memory in which the streams of integers are made and plans tried: one level for each depth of the tree.
type numberScratch struct {
	levels [maxIntDepth]numberLevel
	trees  [maxIntDepth + 1]numberTrial
	table  intTable
}

// numberLevel is what a node makes of its values before they are encoded in turn.
type numberLevel struct {
	values, counts []int64
	patches        patches
}

// numberTrial is what a node that is tried makes of the pieces of a chunk.
type numberTrial struct {
	pieces, other pieces
	patches       patches
}

// appendInts adds the stream of v, whose frames are f, for values of width bytes: as the plan says if that pays in this page, else a leaf.
func (e *encoder) appendInts(dst []byte, v []int64, f *frames, width int, plan *intPlan) []byte {
	return e.appendNode(dst, v, f, width, plan, 0)
}

// appendNode is appendInts of the node that the plan has at depth.
func (e *encoder) appendNode(dst []byte, v []int64, f *frames, width int, plan *intPlan, depth int) []byte {
	leaf, size := f.leaf(len(v), width)
	if leaf != encConst {
		at, ok := len(dst), false
		switch {
		case plan.nodes[depth] != encNone:
			dst, ok = e.appendPlanned(dst, v, width, plan, depth)
		case f.uneven(): // outliers too rare for the sample to have met them
			dst, ok = e.appendSparse(dst, v, width, &intPlan{}, depth)
		}
		if ok && saves(len(dst)-at-streamBytes, size) {
			return dst
		}
		dst = dst[:at]
	}
	switch leaf {
	case encConst:
		return appendConst(dst, f.low, len(v))
	case encBits:
		return appendBits(dst, v)
	case encFOR:
		return appendFOR(dst, v, f)
	}
	return appendRawInts(dst, v, width)
}

// appendPlanned adds the stream of v as the plan says. ok tells whether that is possible; dst is longer in any case.
func (e *encoder) appendPlanned(dst []byte, v []int64, width int, plan *intPlan, depth int) (out []byte, ok bool) {
	switch plan.nodes[depth] {
	case encDelta:
		return e.appendDelta(dst, v, plan, depth)
	case encDelta2:
		return e.appendDelta2(dst, v, plan, depth)
	case encRLE:
		return e.appendRuns(dst, v, width, plan, depth)
	case encDict:
		return e.appendIntDict(dst, v, width, plan, depth)
	case encSparse:
		return e.appendSparse(dst, v, width, plan, depth)
	case encALP:
		return e.appendALP(dst, v, width, plan, depth)
	case encSplit:
		return e.appendSplit(dst, v, width, plan, depth)
	}
	return dst, false
}

// appendChild adds the stream of v, which a node at depth has made, one deeper.
func (e *encoder) appendChild(dst []byte, v []int64, width int, plan *intPlan, depth int) []byte {
	if depth+1 == len(plan.nodes) {
		return appendLeaf(dst, v, width)
	}
	var f frames
	f.measure(v)
	return e.appendNode(dst, v, &f, width, plan, depth+1)
}

// minSaving is what a node that takes longer to decode must save over one that does not: a tenth of the bytes.
const minSaving = 10

// saves reports whether size bytes are so much less than those of the plainer stream.
func saves(size, plainer int) bool { return minSaving*size < (minSaving-1)*plainer }

func appendConst(dst []byte, x int64, count int) []byte {
	dst, at := openStream(dst, encConst, 0, count)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
	closeStream(dst, at)
	return dst
}

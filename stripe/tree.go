package stripe

import "strings"

// The encoding tree of a page is its root stream and those within. To walk it, children has to know where each encoding keeps its own.

// children are the streams that s consists of besides plain bytes, in the order they are stored.
func (s stream) children() ([]stream, error) {
	body, n := s.body, 0
	switch s.enc {
	case encDelta:
		if len(body) < 8 {
			return nil, corrupt("delta stream of %d bytes", len(body))
		}
		body, n = body[8:], 1
	case encDelta2:
		if len(body) < 16 {
			return nil, corrupt("delta-of-delta stream of %d bytes", len(body))
		}
		body, n = body[16:], 1
	case encStr, encFSST:
		n = 1
	case encDict:
		if n = 2; s.param == dictChunk {
			n = 1
		}
	case encDecimal, encRLE, encSplit:
		n = 2
	case encSparse:
		n = 3
	case encWords:
		if n = 3; s.param == 1 {
			n = 2
		}
	case encALP:
		if len(body) < 2 {
			return nil, corrupt("decimal floats of %d bytes", len(body))
		}
		body, n = body[2:], 1
		if _, rest, err := cutStream(body); err == nil && len(rest) > 0 {
			n = 3 // with patches
		}
	}
	out := make([]stream, n)
	for i := range out {
		var err error
		if out[i], body, err = cutStream(body); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxDepth is how many encodings may lie within one another.
const maxDepth = 4

// tree writes the encodings of s and what is in it: DELTA>FOR, or DICT>(STR>FOR,FOR) when there are several.
func (s stream) tree() (string, error) {
	var b strings.Builder
	err := s.writeTree(&b, maxDepth+1)
	return b.String(), err
}

func (s stream) writeTree(b *strings.Builder, depth int) error {
	b.WriteString(s.enc.String())
	children, err := s.children()
	if err != nil || len(children) == 0 {
		return err
	}
	if depth == 0 {
		return corrupt("encodings within one another, more than %d deep", maxDepth)
	}
	b.WriteByte('>')
	if len(children) > 1 {
		b.WriteByte('(')
	}
	for i, c := range children {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := c.writeTree(b, depth-1); err != nil {
			return err
		}
	}
	if len(children) > 1 {
		b.WriteByte(')')
	}
	return nil
}

// features is what a reader must know to decode s: nothing new if a reader of format 1.0 can.
func (s stream) features() uint64 {
	children, err := s.children()
	if err != nil || !s.old(children) {
		return featureStreams
	}
	return 0
}

// old tells whether format 1.0 had s, whose children are given.
func (s stream) old(children []stream) bool {
	leaf := func(c stream) bool { return c.enc == encConst || c.enc == encRaw || c.enc == encFOR && c.param == 0 }
	inner := func(c stream) bool {
		within, err := c.children()
		return err == nil && c.old(within)
	}
	switch s.enc {
	case encConst, encRaw, encFixed16:
		return true
	case encFOR:
		return s.param == 0
	case encDelta, encStr:
		return s.param == 0 && leaf(children[0])
	case encDict:
		return s.param == 0 && inner(children[0]) && (leaf(children[0]) || children[0].enc == encStr) && leaf(children[1])
	case encDecimal:
		return s.param == 0 && leaf(children[0]) && inner(children[1])
	}
	return false
}

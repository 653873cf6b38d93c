package schedule

// list is cursors in line.
type list struct {
	first, last *cursor
	n           int
}

// push puts a cursor at the end.
func (l *list) push(c *cursor) {
	c.in, c.prev, c.next = l, l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
	l.n++
}

// leave takes the cursor out of the line that it is in.
func (c *cursor) leave() {
	l := c.in
	if l == nil {
		return
	}
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	l.n--
	c.in, c.prev, c.next = nil, nil, nil
}

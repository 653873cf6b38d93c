package index

import (
	"bufio"
	"io"
)

// scanBytes is how much of a table a scan reads at once.
const scanBytes = 256 << 10

// scan reads the rows of a run in order.
type scan struct {
	store  *Store
	tables run // those that are not begun
	row    row // the current one; valid until next

	table *table // nil before the first and after the last
	d     *directory
	from  *bufio.Reader
	block int // the next
	buf   []byte
	rows  []byte // of the current block, those that are left
}

// next goes to the next row; false when there is none.
func (c *scan) next() (bool, error) {
	for len(c.rows) == 0 {
		if c.table == nil || c.block == len(c.d.ends) {
			if len(c.tables) == 0 {
				return false, nil
			}
			if err := c.open(); err != nil {
				return false, err
			}
		}
		if err := c.read(); err != nil {
			return false, err
		}
	}
	var ok bool
	if c.row, c.rows, ok = nextRow(c.rows); !ok {
		return false, c.table.corrupt("rows of a block")
	}
	return true, nil
}

// open begins the next table.
func (c *scan) open() (err error) {
	c.table, c.tables, c.block = c.tables[0], c.tables[1:], 0
	if c.d, err = c.store.directories.of(c.table); err != nil {
		return err
	}
	section := io.NewSectionReader(c.table.file, 0, c.table.size)
	if c.from == nil {
		c.from = bufio.NewReaderSize(section, scanBytes)
	}
	c.from.Reset(section)
	return nil
}

// read reads the next block.
func (c *scan) read() error {
	from, to := c.d.bounds(c.block)
	if n := int(to - from); cap(c.buf) < n {
		c.buf = make([]byte, 2*n)
	}
	c.buf = c.buf[:to-from]
	if _, err := io.ReadFull(c.from, c.buf); err != nil {
		return err
	}
	rows, ok := rowsOf(c.buf)
	if !ok {
		return c.table.corrupt("checksum of a block")
	}
	c.rows = rows
	c.block++
	return nil
}

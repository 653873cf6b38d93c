package bench

import (
	"encoding/binary"
	"errors"
	"strings"
)

// hello starts a session and sends a statement, if there is one.
func (c *stormClient) hello(settings string) error {
	c.next = c.message
	hello := binary.BigEndian.AppendUint32(nil, 3<<16)
	hello = append(hello, "user\x00bench\x00database\x00postgres\x00\x00"...)
	if _, err := c.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(hello)+4)), hello...)); err != nil {
		return err
	}
	if err := c.until('Z'); err != nil || settings == "" {
		return err
	}
	if err := c.query(settings); err != nil {
		return err
	}
	return c.until('Z')
}

// query sends a statement and waits for nothing.
func (c *stormClient) query(sql string) error {
	m := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(len(sql)+5))
	_, err := c.conn.Write(append(append(m, sql...), 0))
	return err
}

// terminate says that no more statements come: the server answers those it has, and closes.
func (c *stormClient) terminate() error {
	_, err := c.conn.Write([]byte{'X', 0, 0, 0, 4})
	return err
}

// message reads one of PostgreSQL's messages; its body is passed over beyond 512 bytes.
func (c *stormClient) message() (kind byte, body []byte, err error) {
	head, err := c.in.Peek(5)
	if err != nil {
		return 0, nil, err
	}
	kind = head[0]
	n := int(binary.BigEndian.Uint32(head[1:])) - 4
	if _, err := c.in.Discard(5); err != nil {
		return 0, nil, err
	}
	body, err = c.in.Peek(min(n, 512))
	if err != nil {
		return 0, nil, err
	}
	if kind == 'E' {
		return 0, nil, errors.New(strings.ReplaceAll(string(body), "\x00", " "))
	}
	_, err = c.in.Discard(n)
	return kind, body, err
}

func (c *stormClient) until(kind byte) error {
	for {
		got, _, err := c.next()
		if err != nil || got == kind {
			return err
		}
	}
}

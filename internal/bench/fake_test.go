package bench

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// fakePostgres listens and gives each connection, after its start, to serve; the connection is closed when that returns.
func fakePostgres(t *testing.T, serve func(c *fakeConn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go func() {
				defer conn.Close()
				c := &fakeConn{conn, bufio.NewReader(conn)}
				if _, err := c.body(); err == nil {
					c.send('Z', "I")
					serve(c)
				}
			}()
		}
	}()
	return l.Addr().String()
}

// fakeConn is the server's side of a connection.
type fakeConn struct {
	net.Conn
	in *bufio.Reader
}

// query is the next statement, "" when the client sends no more.
func (c *fakeConn) query() string {
	kind, err := c.in.ReadByte()
	if err != nil || kind != 'Q' {
		return ""
	}
	body, err := c.body()
	if err != nil {
		return ""
	}
	return string(body[:len(body)-1])
}

func (c *fakeConn) body() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.in, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:])-4)
	_, err := io.ReadFull(c.in, body)
	return body, err
}

func (c *fakeConn) send(kind byte, body string) {
	c.Write(append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...))
}

// copies sends rows of a COPY.
func (c *fakeConn) copies(rows ...string) {
	for _, row := range rows {
		c.send('d', row)
	}
}

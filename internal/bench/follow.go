package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// stormClient speaks just enough of a protocol to follow a COPY, or a subject of NATS, so that a core serves many of them.
type stormClient struct {
	job    *stormJob
	number int
	conn   net.Conn
	in     *bufio.Reader
	next   func() (kind byte, body []byte, err error) // 'd' is a row; the body is there until the next read, as much of it as matters

	tally  *tally // of a client that resumes
	resume stormResume

	got    int   // live rows
	newest int64 // when the last of them was committed

	millis, dueMillis []float64
	err               error
}

func newStormClient(job *stormJob, number int) *stormClient {
	c := &stormClient{job: job, number: number}
	if job.Killed {
		c.tally = &tally{}
	}
	return c
}

// connect gets the client to where it can send its statement.
func (c *stormClient) connect() (err error) {
	address := c.job.Address
	if c.resume.Address != "" {
		address = c.resume.Address
	}
	if c.conn, err = net.Dial("tcp", address); err != nil {
		return err
	}
	c.in = bufio.NewReaderSize(c.conn, 32<<10)
	switch {
	case c.job.Bare > 0:
		return nil
	case c.job.NATS:
		return c.natsHello()
	}
	return c.hello(c.job.Settings)
}

func (c *stormClient) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// prepare is what is not timed: what there is to do before the start.
func (c *stormClient) prepare() error {
	switch {
	case c.job.NATS:
		return c.natsFollow()
	case c.job.Live > 0:
		return c.follow()
	case c.job.Killed:
		return c.snapshot()
	}
	return nil
}

// run is what is timed.
func (c *stormClient) run() (err error) {
	if c.job.Live > 0 {
		return c.time()
	}
	began := time.Now()
	switch {
	case c.job.Bare > 0:
		if _, err = c.conn.Write([]byte{1}); err == nil {
			_, err = io.CopyN(io.Discard, c.in, int64(c.job.Bare))
		}
	case c.job.Killed:
		err = c.goOn()
	default:
		err = c.snapshot()
	}
	c.millis = []float64{millisSince(began)}
	return err
}

func millisSince(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }

// follow sends the statement and reads the first progress row: from here on every change comes.
func (c *stormClient) follow() error {
	if err := c.query(strings.ReplaceAll(c.job.Statement, "%d", fmt.Sprint(c.number))); err != nil {
		return err
	}
	_, err := c.row()
	return err
}

// snapshot reads until the second progress row: the snapshot is complete.
func (c *stormClient) snapshot() error {
	if err := c.follow(); err != nil {
		return err
	}
	for {
		if c.tally == nil {
			if err := c.passRows(); err != nil {
				return err
			}
		}
		if r, err := c.row(); err != nil || r.progress {
			return err
		}
	}
}

// passRows passes over messages that have come whole and are rows of a table. Thousands of clients share the server's cores here: one who only waits for the end of a
// snapshot looks at little else, as its peers of the bare loop do.
func (c *stormClient) passRows() error {
	messages, err := c.in.Peek(c.in.Buffered())
	if err != nil {
		return err
	}
	passed := 0
	for rest := messages; len(rest) >= 5; rest = messages[passed:] {
		size := 1 + int(binary.BigEndian.Uint32(rest[1:]))
		if len(rest) < size || rest[0] != 'd' || bytes.HasPrefix(afterTab(rest[5:size]), []byte("t\t")) {
			break
		}
		passed += size
	}
	_, err = c.in.Discard(passed)
	return err
}

func afterTab(line []byte) []byte { return line[bytes.IndexByte(line, '\t')+1:] }

// row reads the next row, and counts it when the client counts.
func (c *stormClient) row() (copyRow, error) {
	for {
		kind, body, err := c.next()
		if err != nil {
			return copyRow{}, err
		}
		if kind != 'd' {
			continue
		}
		r := readCopyRow(body)
		if c.tally != nil {
			c.tally.take(r)
		}
		return r, nil
	}
}

// untilGone reads until the server is gone. What came after the last progress row may be half of something: it is forgotten, and comes again.
func (c *stormClient) untilGone() error {
	for {
		if _, err := c.row(); err != nil {
			c.tally.forget()
			return c.close()
		}
	}
}

// goOn resumes after the last progress row, without a snapshot, until the client has everything, and checks that it does.
func (c *stormClient) goOn() error {
	err := c.query(fmt.Sprintf("COPY (SUBSCRIBE storm WITH (PROGRESS, SNAPSHOT = false) AS OF %d) TO STDOUT", c.tally.progress-1))
	for err == nil && c.tally.progress <= c.resume.Until {
		_, err = c.row()
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if got, want := c.tally.sure, c.resume.Want; got != want {
		return fmt.Errorf("after the resume there are %d rows with the sum %x, want %d with %x", got.Rows, got.Sum, want.Rows, want.Sum)
	}
	return nil
}

// quietLimit is after what time without rows those that are missing are given up, in microseconds of the server's progress.
const quietLimit = 60_000_000

// liveRow reads the next row that is no progress.
func (c *stormClient) liveRow() (copyRow, error) {
	for {
		r, err := c.row()
		switch {
		case err != nil:
			return r, fmt.Errorf("after %d of %d rows: %w", c.got, c.job.Live, err)
		case !r.progress:
			c.got, c.newest = c.got+1, r.at
			return r, nil
		case c.got > 0 && r.at > c.newest+quietLimit:
			return r, fmt.Errorf("after %d of %d rows there was none for a minute", c.got, c.job.Live)
		}
	}
}

// time reads the rows and times some of them, from their commit and from the moment that their write was due.
func (c *stormClient) time() error {
	for c.got < c.job.Live {
		r, err := c.liveRow()
		if err != nil {
			return err
		}
		if (c.got+c.number)%c.job.Every == 0 {
			now := time.Now().UnixMicro()
			c.millis = append(c.millis, float64(now-r.at)/1000)
			c.dueMillis = append(c.dueMillis, float64(now-r.due())/1000)
		}
	}
	return nil
}

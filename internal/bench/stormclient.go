package bench

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// stormJob is what a process of clients does: connect all, say so, and when told to, let each send its statement, or one byte to a bare loop.
type stormJob struct {
	Address   string
	Clients   int
	First     int    // number of the first client
	Settings  string // a statement to send before, "" for none
	Statement string // %d is the client's number
	Bare      int    // not 0: read so many bytes from a bare loop
	Live      int    // not 0: no snapshot is awaited; so many rows are, and each is timed from its mz_timestamp
}

// stormDone is what came of it.
type stormDone struct {
	Millis []float64 // from the statement to the end of the snapshot, for each client that got there; of live rows, of a part of them
	Errors []string
}

// StormClients is a process of clients: a job on in, "ready" and the outcome on out. They stay connected until in ends.
func StormClients(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	var job stormJob
	text, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &job)
	}
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	clients := make([]*stormClient, job.Clients)
	var group sync.WaitGroup
	slots := make(chan struct{}, 32) // connecting at once
	for i := range clients {
		group.Go(func() {
			slots <- struct{}{}
			clients[i] = newStormClient(&job, job.First+i)
			<-slots
		})
	}
	group.Wait()
	if job.Live > 0 {
		for _, c := range clients {
			c.follow()
		}
	}
	fmt.Fprintln(out, "ready")
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	for _, c := range clients {
		group.Go(c.run)
	}
	group.Wait()
	var done stormDone
	for _, c := range clients {
		switch {
		case c.err != nil:
			done.Errors = append(done.Errors, c.err.Error())
		case job.Live > 0:
			done.Millis = append(done.Millis, c.millis...)
		default:
			done.Millis = append(done.Millis, float64(c.took.Microseconds())/1000)
		}
	}
	if err := json.NewEncoder(out).Encode(done); err != nil {
		return err
	}
	_, err = lines.ReadString('\n')
	for _, c := range clients {
		if c.conn != nil {
			c.conn.Close() // the other side sees it
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// stormClient speaks just enough of the protocol to follow a COPY, so that a core serves many of them.
type stormClient struct {
	conn      net.Conn
	in        *bufio.Reader
	statement string
	bare      int
	live      int
	millis    []float64
	took      time.Duration
	err       error
}

func newStormClient(job *stormJob, number int) *stormClient {
	c := &stormClient{statement: strings.ReplaceAll(job.Statement, "%d", fmt.Sprint(number)), bare: job.Bare, live: job.Live}
	if c.conn, c.err = net.Dial("tcp", job.Address); c.err != nil {
		return c
	}
	c.in = bufio.NewReaderSize(c.conn, 32<<10)
	if c.bare > 0 {
		return c
	}
	hello := binary.BigEndian.AppendUint32(nil, 3<<16)
	hello = append(hello, "user\x00bench\x00database\x00postgres\x00\x00"...)
	if _, c.err = c.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(hello)+4)), hello...)); c.err == nil {
		c.err = c.until('Z')
	}
	if c.err == nil && job.Settings != "" {
		if c.err = c.query(job.Settings); c.err == nil {
			c.err = c.until('Z')
		}
	}
	return c
}

func (c *stormClient) query(sql string) error {
	m := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(len(sql)+5))
	_, err := c.conn.Write(append(append(m, sql...), 0))
	return err
}

// next reads a message; its body is there until the next read when it is short, and passed over when it is not.
func (c *stormClient) next() (kind byte, body []byte, err error) {
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

// run sends the statement and reads until the second progress row: the snapshot is complete.
func (c *stormClient) run() {
	if c.err != nil {
		return
	}
	began := time.Now()
	defer func() { c.took = time.Since(began) }()
	if c.bare > 0 {
		if _, c.err = c.conn.Write([]byte{1}); c.err == nil {
			_, c.err = io.CopyN(io.Discard, c.in, int64(c.bare))
		}
		return
	}
	if c.live > 0 {
		c.err = c.time()
		return
	}
	if c.err = c.query(c.statement); c.err != nil {
		return
	}
	for progress := 0; progress < 2; {
		kind, body, err := c.next()
		if err != nil {
			c.err = err
			return
		}
		if kind != 'd' {
			continue
		}
		if _, isProgress := row(body); isProgress {
			progress++
		}
	}
}

// row reads the first two columns of a row with PROGRESS.
func row(body []byte) (at int64, isProgress bool) {
	for i, b := range body {
		if b == '\t' {
			return at, i+1 < len(body) && body[i+1] == 't'
		}
		at = at*10 + int64(b-'0')
	}
	return at, false
}

// follow sends the statement and reads the first progress row: from here on every change comes.
func (c *stormClient) follow() {
	if c.err != nil {
		return
	}
	if c.err = c.query(c.statement); c.err == nil {
		c.err = c.until('d')
	}
}

// liveSamples is about how many rows each client times.
const liveSamples = 40

// time reads the rows and times some of them from their commit.
func (c *stormClient) time() error {
	for rows := 0; rows < c.live; {
		kind, body, err := c.next()
		if err != nil {
			return err
		}
		if kind != 'd' {
			continue
		}
		at, isProgress := row(body)
		if isProgress {
			continue
		}
		if rows%max(1, c.live/liveSamples) == 0 {
			c.millis = append(c.millis, float64(time.Now().UnixMicro()-at)/1000)
		}
		rows++
	}
	return nil
}

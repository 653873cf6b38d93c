package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// stormJob is what a process of clients does: connect all, say "ready", and when told to go, let each do its part.
//
//	Bare      one byte to a bare loop, and read what it answers
//	Live      follow before "ready"; then read rows and time some
//	Killed    take the snapshot before "ready" and follow until the server is gone; then be told where it is, connect, "ready"; then resume
//	none      the statement, and its snapshot
type stormJob struct {
	Address   string
	Clients   int
	First     int    // number of the first client
	Settings  string // a statement to send before, "" for none
	Statement string // %d is the client's number
	Bare      int    // bytes
	Live      int    // rows
	Every     int    // of live rows a client times one of so many
	NATS      bool   // the live rows are messages of a NATS server
	Killed    bool
}

// stormResume is where clients go on after their server was killed, and what they must have then.
type stormResume struct {
	Address string
	Until   int64  // the time of the last commit
	Want    rowSum // of the table at that time
}

// stormDone is what came of it.
type stormDone struct {
	Millis    []float64 // for each client that got there, from the statement until it was; of live rows, for those that were timed, from their commit
	DueMillis []float64 // of live rows: from the moment that their write was due
	Errors    []string  // of those that did not get there
}

// StormClients is a process of clients: a job on in, "ready" and the outcome on out. They stay connected until in ends.
func StormClients(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	var job stormJob
	if err := decodeLine(lines, &job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	clients := make(stormClients, job.Clients)
	for i := range clients {
		clients[i] = newStormClient(&job, job.First+i)
	}
	defer clients.each(len(clients), (*stormClient).close) // the other side sees it
	clients.each(connecting, (*stormClient).connect)
	clients.each(len(clients), (*stormClient).prepare)
	if job.Killed {
		if err := clients.outlive(lines, out); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "ready")
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	clients.each(len(clients), (*stormClient).run)
	if err := json.NewEncoder(out).Encode(clients.done()); err != nil {
		return err
	}
	if _, err := lines.ReadString('\n'); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func decodeLine(lines *bufio.Reader, into any) error {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// connecting is how many clients connect at once.
const connecting = 32

// stormClients are the clients of one process.
type stormClients []*stormClient

// each lets every client that has not failed do something, so many at once.
func (all stormClients) each(atOnce int, do func(*stormClient) error) {
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, c := range all {
		if c.err != nil {
			continue
		}
		group.Go(func() {
			slots <- struct{}{}
			c.err = do(c)
			<-slots
		})
	}
	group.Wait()
}

// outlive follows until the server is gone, and connects to the one that is there then.
func (all stormClients) outlive(lines *bufio.Reader, out io.Writer) error {
	fmt.Fprintln(out, "ready")
	all.each(len(all), (*stormClient).untilGone)
	var to stormResume
	if err := decodeLine(lines, &to); err != nil {
		return fmt.Errorf("read where to resume: %w", err)
	}
	all.each(connecting, func(c *stormClient) error {
		c.resume = to
		return c.connect()
	})
	return nil
}

func (all stormClients) done() (d stormDone) {
	for _, c := range all {
		if c.err != nil {
			d.Errors = append(d.Errors, c.err.Error())
			continue
		}
		d.Millis = append(d.Millis, c.millis...)
		d.DueMillis = append(d.DueMillis, c.dueMillis...)
	}
	return d
}

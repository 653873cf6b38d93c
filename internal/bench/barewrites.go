package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// bareName is the bare loop in a report.
const bareName = "bare"

// bareJob is what the bare loop writes: as many bytes as a server wrote to each client, in as many writes, in as many seconds: 0 is as fast as they go.
type bareJob struct {
	Clients, Bytes, Writes int
	Seconds                float64
}

// bareDone is what that took.
type bareDone struct{ CPUSeconds float64 }

// BareWrites is the limit that a storm is measured against: a process that accepts clients, and writes the same bytes to each as soon as it sends one. The job comes
// on in; the address, and then what it took, go to out.
func BareWrites(in io.Reader, out io.Writer) (err error) {
	jobs := json.NewDecoder(in)
	var job bareJob
	if err := jobs.Decode(&job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	fmt.Fprintln(out, l.Addr())
	conns := make([]net.Conn, job.Clients)
	for i := range conns {
		if conns[i], err = l.Accept(); err != nil {
			return err
		}
		defer conns[i].Close()
	}
	before := cpuUsed()
	write := job.atOnce
	if job.Seconds > 0 {
		write = job.paced
	}
	if err := write(conns); err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(bareDone{(cpuUsed() - before).Seconds()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in) // the clients read on until they are told to go
	return err
}

// bareLoop runs the bare loop and as many clients of it.
func (s *storming) bareLoop(ctx context.Context, job bareJob) (o *outcome, cpu float64, err error) {
	p, err := startProcess(ctx, s.self, "bare-writes", job)
	if err != nil {
		return nil, 0, err
	}
	defer p.end()
	at, err := p.out.ReadString('\n')
	if err != nil {
		return nil, 0, err
	}
	c, err := gather(ctx, s.self, stormJob{Address: strings.TrimSpace(at), Bare: job.Bytes}, job.Clients)
	if err != nil {
		return nil, 0, err
	}
	defer c.end()
	if o, err = c.run(); err != nil {
		return nil, 0, err
	}
	var done bareDone
	err = json.NewDecoder(p.out).Decode(&done)
	return o, done.CPUSeconds, err
}

// each is how many bytes a write has.
func (j bareJob) each() int { return max(1, (j.Bytes+j.Writes-1)/max(1, j.Writes)) }

// atOnce writes to each client as soon as it sends a byte.
func (j bareJob) atOnce(conns []net.Conn) error {
	data, failed := make([]byte, j.Bytes), make([]error, len(conns))
	var group sync.WaitGroup
	for i, c := range conns {
		group.Go(func() {
			var start [1]byte
			if _, failed[i] = io.ReadFull(c, start[:]); failed[i] != nil {
				return
			}
			for from := 0; from < len(data) && failed[i] == nil; from += j.each() {
				_, failed[i] = c.Write(data[from:min(from+j.each(), len(data))])
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// paced writes once to each client in turn, evenly over the time, once all have sent a byte.
func (j bareJob) paced(conns []net.Conn) error {
	var start [1]byte
	for _, c := range conns {
		if _, err := io.ReadFull(c, start[:]); err != nil {
			return err
		}
	}
	data := make([]byte, j.Bytes)
	began, n := time.Now(), 0
	for from := 0; from < len(data); from += j.each() {
		<-time.After(time.Until(began.Add(time.Duration(float64(n) / float64(j.Writes) * j.Seconds * float64(time.Second)))))
		n++
		for _, c := range conns {
			if _, err := c.Write(data[from:min(from+j.each(), len(data))]); err != nil {
				return err
			}
		}
	}
	return nil
}

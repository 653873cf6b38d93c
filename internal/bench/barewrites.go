package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// bareJob is what the bare loop writes: as many bytes as a server wrote to each client, in as many writes.
type bareJob struct{ Clients, Bytes, Writes int }

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
	data := make([]byte, job.Bytes)
	each := max(1, (job.Bytes+job.Writes-1)/max(1, job.Writes))
	failed := make([]error, job.Clients)
	var group sync.WaitGroup
	for i, c := range conns {
		group.Go(func() {
			var start [1]byte
			if _, failed[i] = io.ReadFull(c, start[:]); failed[i] != nil {
				return
			}
			for from := 0; from < len(data) && failed[i] == nil; from += each {
				_, failed[i] = c.Write(data[from:min(from+each, len(data))])
			}
		})
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(bareDone{(cpuUsed() - before).Seconds()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in) // the clients read on until they are told to go
	return err
}

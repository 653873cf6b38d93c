package bench

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	slowBuffer   = 64 << 10    // bytes that the kernel keeps for a slow client, so that it is the server that has to wait
	catchUpLimit = time.Minute // how long a client that was stopped may take to have all rows, after the fast ones have
)

// slowClients follow beside fast ones. A nil pointer is none.
//
//	reading   reads a row a second
//	stalled   reads a row, stops for stall, and then has to catch up
//	stopped   reads nothing
type slowClients struct {
	stall    time.Duration
	caughtUp time.Duration // from the end of the stall until the client had what was written before
	rows     int           // that the reading one has read

	clients []*stormClient
	group   sync.WaitGroup
	closed  chan struct{}
	caught  chan error
}

// follow connects them; from here on they are slow.
func (s *slowClients) follow(job stormJob) error {
	if s == nil {
		return nil
	}
	s.closed, s.caught = make(chan struct{}), make(chan error, 1)
	for i := range 3 {
		c := newStormClient(&job, i)
		s.clients = append(s.clients, c)
		if err := c.connectSlow(); err != nil {
			s.close()
			return fmt.Errorf("connect a slow client: %w", err)
		}
	}
	reading, stalled := s.clients[0], s.clients[1]
	s.group.Go(func() { s.rows = reading.aRowASecond(s.closed) })
	s.group.Go(func() { s.caught <- s.stallOnce(stalled) })
	return nil
}

func (c *stormClient) connectSlow() error {
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.conn.(*net.TCPConn).SetReadBuffer(slowBuffer); err != nil {
		return err
	}
	return c.follow()
}

// aRowASecond reads until closed is, and returns how many rows it has.
func (c *stormClient) aRowASecond(closed <-chan struct{}) int {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-closed:
			return c.got
		}
		if _, err := c.liveRow(); err != nil {
			return c.got
		}
	}
}

// stallOnce stops after the first row, and then reads all there are.
func (s *slowClients) stallOnce(c *stormClient) error {
	if _, err := c.liveRow(); err != nil {
		return err
	}
	select {
	case <-time.After(s.stall):
	case <-s.closed:
		return errors.New("it was ended while it was stopped")
	}
	woke := time.Now()
	for c.got < c.job.Live {
		r, err := c.liveRow()
		if err != nil {
			return err
		}
		if s.caughtUp == 0 && r.at >= woke.UnixMicro() {
			s.caughtUp = time.Since(woke)
		}
	}
	return nil
}

// catchUp waits for the one that was stopped, and returns what went wrong with it.
func (s *slowClients) catchUp() []string {
	if s == nil {
		return nil
	}
	var err error
	select {
	case err = <-s.caught:
	case <-time.After(catchUpLimit):
		err = fmt.Errorf("it has not caught up within %v", catchUpLimit)
	}
	s.close()
	if err != nil {
		return []string{fmt.Sprintf("the client that was stopped for %v: %v", s.stall, err)}
	}
	return nil
}

// close lets them go. It may be called again.
func (s *slowClients) close() {
	if s == nil || s.clients == nil {
		return
	}
	close(s.closed)
	for _, c := range s.clients {
		c.close()
	}
	s.clients = nil
	s.group.Wait()
}

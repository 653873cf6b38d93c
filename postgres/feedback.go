package postgres

import (
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"
)

// link is what the reader of a stream and the goroutine that reports for it share.
type link struct {
	conn       net.Conn
	heard      atomic.Uint64 // messages received
	delivering atomic.Bool   // the reader waits for us, not for the source
	asked      chan struct{} // the source wants to hear from us now
	dead       atomic.Bool
}

// ask has a report sent soon. It does not block.
func (l *link) ask() {
	select {
	case l.asked <- struct{}{}:
	default: // one is due already
	}
}

// report tells the source every interval, and when it asks, what is durable here. It runs beside the reader, so that a slow disk here never
// looks like a dead receiver there. A source that is silent for a third of deadAfter is asked for a sign of life; silent for all of it, it is taken
// for dead and the connection is closed, which ends the reader.
func (l *link) report(ctx context.Context, confirmed *atomic.Uint64, interval, deadAfter time.Duration) {
	tick := time.NewTicker(min(interval, deadAfter/3))
	defer tick.Stop()
	heard, last := l.heard.Load(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.asked:
		case <-tick.C:
		}
		if n := l.heard.Load(); n != heard || l.delivering.Load() {
			heard, last = n, time.Now()
		}
		silent := time.Since(last)
		if silent >= deadAfter {
			l.dead.Store(true)
			_ = l.conn.Close()
			return
		}
		if l.send(confirmed.Load(), silent >= deadAfter/3) != nil {
			_ = l.conn.Close() // the reader sees it and says what is wrong
			return
		}
	}
}

// sendTimeout bounds the write of one status message of 39 bytes; only a peer that is gone takes longer.
const sendTimeout = 10 * time.Second

// send writes one standby status update.
func (l *link) send(lsn uint64, reply bool) error {
	msg := append(make([]byte, 0, 39), 'd', 0, 0, 0, 38, 'r')
	for range 3 { // written, flushed, applied: we know one kind of done
		msg = binary.BigEndian.AppendUint64(msg, lsn)
	}
	msg = binary.BigEndian.AppendUint64(msg, uint64(time.Since(epoch).Microseconds()))
	if reply {
		msg = append(msg, 1)
	} else {
		msg = append(msg, 0)
	}
	if err := l.conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err := l.conn.Write(msg)
	return err
}

// epoch is PostgreSQL's.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

package feedsim

import "time"

const (
	redoFlushBytes = 8 << 20
	redoCall       = 20 * time.Millisecond
	redoBandwidth  = 60e6 // bytes a second
)

// redoLog collects slices and puts them, one after the other, while the next are collected.
type redoLog struct {
	e         *engine
	every     time.Duration
	bandwidth float64
	outage    bool // 5 s of every 60
	pending   []redoPiece
	bytes     int64 // that are collected
	writing   bool
	due       bool
	flushes   int
	busy      time.Duration
	acked     func(p redoPiece)
}

type redoPiece struct {
	table int
	bytes int64
	end   int // rows of the table before it are in
	to    int64
	at    time.Duration // when it was added
}

func (l *redoLog) add(p redoPiece) {
	p.at = l.e.now
	l.pending = append(l.pending, p)
	l.bytes += p.bytes
	if l.bytes >= redoFlushBytes {
		l.flush()
		return
	}
	if !l.due {
		l.due = true
		l.e.after(l.every, func() { l.due = false; l.flush() })
	}
}

// flush puts what is there, if nothing is being put.
func (l *redoLog) flush() {
	if l.writing || len(l.pending) == 0 {
		return
	}
	pieces, bytes := l.pending, l.bytes
	l.pending, l.bytes, l.writing = nil, 0, true
	l.flushes++
	d := redoCall + time.Duration(float64(bytes)/l.bandwidth*float64(time.Second))
	if l.outage {
		if in := l.e.now % time.Minute; in < 5*time.Second {
			d += 5*time.Second - in
		}
	}
	l.busy += d
	l.e.after(d, func() {
		l.writing = false
		for _, p := range pieces {
			l.acked(p)
		}
		if l.bytes >= redoFlushBytes || len(l.pending) > 0 && l.e.now-l.pending[0].at >= l.every {
			l.flush()
		}
	})
}

package postgres

import (
	"errors"
	"sync/atomic"

	"tailrace"
)

const (
	// snapshotBatchBytes and snapshotBatchRows bound the batches that rows are delivered in. As many rows are a page group of a stripe, which is then
	// written from where it lies.
	snapshotBatchBytes = 4 << 20
	snapshotBatchRows  = 8192
	// pipeBatches is how many batches wait between the reader and who stores them. It evens out that storing is sometimes nothing and sometimes
	// the sorting and encoding of a part.
	pipeBatches = 3
)

// copyWriter takes the messages of a COPY, each one line, and delivers batches. What is wrong with a value is kept in failed and the rest of the
// table is read past, so that the connection stays usable.
type copyWriter struct {
	text   *copyText
	pipe   *pipe
	bytes  int
	failed error
}

func (w *copyWriter) Write(line []byte) (int, error) {
	if w.failed != nil {
		return len(line), nil
	}
	if err := w.text.line(line); err != nil {
		w.failed = err
		return len(line), nil
	}
	w.bytes += len(line)
	if w.bytes >= snapshotBatchBytes || w.text.batch.N >= snapshotBatchRows {
		return len(line), w.flush()
	}
	return len(line), nil
}

func (w *copyWriter) flush() error {
	w.bytes = 0
	if w.failed != nil || w.text.batch.N == 0 {
		return nil
	}
	return w.pipe.send(w.text.take())
}

// pipe hands batches to a goroutine that delivers them, so that rows are read and decoded while others are stored.
type pipe struct {
	batches chan *tailrace.Batch
	broken  atomic.Bool // err is set
	err     error       // of deliver; read after done
	done    chan struct{}
}

// errBroken ends a COPY whose rows cannot be delivered; close says why.
var errBroken = errors.New("rows cannot be delivered")

// newPipe starts the goroutine; close ends it and waits for it.
func newPipe(deliver func(*tailrace.Batch) error) *pipe {
	p := &pipe{batches: make(chan *tailrace.Batch, pipeBatches), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for b := range p.batches {
			if p.err != nil {
				continue // the sender is told with its next batch
			}
			if p.err = deliver(b); p.err != nil {
				p.broken.Store(true)
			}
		}
	}()
	return p
}

func (p *pipe) send(b *tailrace.Batch) error {
	if p.broken.Load() {
		return errBroken
	}
	p.batches <- b
	return nil
}

// close waits until all is delivered and returns deliver's error.
func (p *pipe) close() error {
	close(p.batches)
	<-p.done
	return p.err
}

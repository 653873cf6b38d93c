package log

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"tailrace"
)

// MaxEntry is the size of the largest entry, in bytes. A transaction whose records do not fit one is refused with ErrTooLarge; its
// writer puts rows into parts and refers to them.
const MaxEntry = 1 << 20

// waitingBytes bounds the encoded transactions that wait for their outcome. Commit waits for room.
const waitingBytes = 64 << 20

// The keys in Consensus.
const (
	logKey        = "log"
	checkpointKey = "checkpoint"
	turnKey       = "turn"
)

// What Commit, Run, Apply and Follow may return, wrapped, beside the context's errors and tailrace.ErrFull.
var (
	// ErrConflict: something the transaction relies on has changed, or may have. Nothing was done; read again and retry.
	ErrConflict = errors.New("conflict with a transaction committed since")
	// ErrUnknown: whether the transaction is committed cannot be found out. Run ends with it; the node starts again from the checkpoint.
	ErrUnknown = errors.New("it is unknown whether the transaction committed")
	// ErrTooLarge: the records do not fit one entry. Nothing was done.
	ErrTooLarge = errors.New("transaction too large for one log entry")
	// ErrFenced: the claim that the transaction was to run under has moved on. Nothing was done.
	ErrFenced = errors.New("the claim has moved on")
	// ErrEnded: another node has ended this node's session. Nothing was done, and nothing will be until the process starts anew.
	ErrEnded = errors.New("this node's session was ended by another node")
	// ErrUnreachable: the store did not answer for the time of a lease, so that others may have ended this node's session: a strict read is refused.
	ErrUnreachable = errors.New("the log's store does not answer")
	// ErrClosed: Run has returned, so nobody commits. Nothing was done.
	ErrClosed = errors.New("the log is closed")
	// ErrTruncated: Follow was to start at an entry that is gone. Start from the checkpoint.
	ErrTruncated = errors.New("the log no longer holds this entry")
)

// Options is what a Log is made of.
type Options struct {
	Consensus tailrace.Consensus
	Blob      tailrace.Blob // keeps checkpoints
	Session   string        // this node's session: 16 lower-case hex digits, fresh each start
	// Shared: other nodes use the stores at the same time. Without it this node has them alone: it ends all sessions that it finds, learns of
	// every entry by appending it, and asks Consensus nothing for a strict read.
	Shared bool
	// Reads, on shared stores, is the oldest time that this node reads at and the newest at which all that it still needs had been let go: others keep
	// what is above it. nil is Newest.
	Reads func() tailrace.Time
	Lease time.Duration    // on shared stores, the silence after which a session is ended, the same on all nodes; 0 is LeaseTime
	Now   func() time.Time // nil is time.Now
	// Ahead is how far the wall clock is ahead of Now's, at any moment; nil: not at all. Simulations set clocks wrong with it.
	Ahead func() time.Duration
	// Yield lets those go on who are about to commit, too, before a group is taken; nil is runtime.Gosched. Simulations let all go on that can.
	Yield  func()
	Logger *slog.Logger // nil is slog.Default
}

// Log is one node's end of the log. Its methods may be called by any number of goroutines, but for Run, Apply and Applied, which have one each at a time.
type Log struct {
	consensus tailrace.Consensus
	blob      tailrace.Blob
	session   string
	shared    bool
	lease     lease
	reads     func() tailrace.Time
	now       func() time.Time
	ahead     func() time.Duration // of the wall clock; nil: none
	yield     func()
	start     time.Time // monotonic time counts from here
	logger    *slog.Logger

	room    *semaphore.Weighted         // of waitingBytes
	wake    chan struct{}               // holds a token when commits wait, or others' entries do
	over    chan struct{}               // closed when Run has returned
	gone    chan struct{}               // closed by Abandon
	lead    atomic.Pointer[func() bool] // does a round on the caller's goroutine if the log is idle; nil while nobody may
	applier atomic.Pointer[applier]     // nil before Apply
	look    lookout
	newest  atomic.Uint64 // Newest
	jump    atomic.Int64  // ClockJump

	mu      sync.Mutex // guards what follows, in memory only
	running bool
	closed  error   // why nothing more is committed; nil while it may be
	asked   *asking // the Syncs that wait for the next Head call; nil while none do
	waiting []*commit
	head    tailrace.SeqNo // of what is known to be durable
	last    tailrace.Time  // the head's
	window  window
	grew    chan struct{} // closed when head moves; nil while nobody waits for it
	applied applied
}

var sessionForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Open finds the newest checkpoint, nil when there is none, and the log's head. The caller restores its folds from the checkpoint, then
// follows from checkpoint.Seq (0 without one) and calls Applied for each entry; Run begins to commit once that has reached the head.
// Nothing needs to be closed.
func Open(ctx context.Context, opts Options) (*Log, *Checkpoint, error) {
	if !sessionForm.MatchString(opts.Session) {
		return nil, nil, fmt.Errorf("open log: session %q is not 16 hex digits", opts.Session)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	l := &Log{
		consensus: opts.Consensus, blob: opts.Blob, session: opts.Session, shared: opts.Shared, reads: opts.Reads,
		now: opts.Now, ahead: opts.Ahead, yield: opts.Yield, start: opts.Now(), logger: opts.Logger,
		room: semaphore.NewWeighted(waitingBytes), wake: make(chan struct{}, 1), over: make(chan struct{}), gone: make(chan struct{}),
		look: lookout{nudge: make(chan struct{}, 1), seen: make(chan struct{}, 1)},
	}
	if l.lease = lease(opts.Lease); l.lease == 0 {
		l.lease = lease(LeaseTime)
	}
	if l.yield == nil {
		l.yield = runtime.Gosched
	}
	if l.reads == nil {
		l.reads = l.Newest
	}
	checkpoint, folded, err := l.readCheckpoint(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	l.applied.state = folded
	if err := l.findHead(ctx, checkpoint); err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	return l, checkpoint, nil
}

// findHead places the log at its head and what is applied at the checkpoint.
func (l *Log) findHead(ctx context.Context, c *Checkpoint) error {
	v, err := l.consensus.Head(ctx, logKey)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	if v.Seq > 0 {
		e, _, err := decodeSlot(v)
		if err != nil {
			return err
		}
		l.head, l.last = e.Seq, e.Time
	}
	if c == nil {
		return nil
	}
	if c.Seq > l.head || c.Time > l.last {
		return fmt.Errorf("checkpoint of entry %d, but the log ends at %d: %w", c.Seq, l.head, tailrace.ErrCorrupt)
	}
	l.applied.seq = c.Seq
	l.newest.Store(uint64(c.Time))
	return nil
}

// decodeSlot reads the entry in a slot of the log, which must be that slot's own, and the session that appended it.
func decodeSlot(v tailrace.Versioned) (e *Entry, by string, err error) {
	entry, _, by, err := DecodeEntry(v.Value)
	if err != nil {
		return nil, "", fmt.Errorf("entry %d: %w", v.Seq, err)
	}
	if entry.Seq != v.Seq {
		return nil, "", fmt.Errorf("slot %d holds entry %d: %w", v.Seq, entry.Seq, tailrace.ErrCorrupt)
	}
	return &entry, by, nil
}

// Session is the session this node commits in.
func (l *Log) Session() string { return l.session }

// Shared says whether other nodes use the stores at the same time: Newest may then miss what another has acknowledged.
func (l *Log) Shared() bool { return l.shared }

// Head is the newest entry known to be durable. After Open, replay is done when it has been applied.
func (l *Log) Head() tailrace.SeqNo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Oldest is the oldest entry that Consensus still holds, 0 when it holds none: Follow(ctx, oldest-1) reads all there is.
func (l *Log) Oldest(ctx context.Context) (tailrace.SeqNo, error) {
	page, err := l.consensus.Scan(ctx, logKey, 0, 1)
	if err != nil || len(page) == 0 {
		return 0, err
	}
	return page[0].Seq, nil
}

// ClockJump is how far the wall clock is ahead of the times that commits get, after it jumped; 0 while it is followed.
func (l *Log) ClockJump() time.Duration { return time.Duration(l.jump.Load()) }

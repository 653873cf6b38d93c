package index

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"tailrace"
)

// tokenBytes is the length of a token: 16 hex digits.
const tokenBytes = 16

func newToken() string {
	var raw [tokenBytes / 2]byte
	rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}

// Open opens the store in dir, made if need be, for the environment of consensus, and returns what it holds by collection. head is the newest
// entry of the log before this node appended any of its own. A store that cannot be read or is not this environment's past is emptied.
// Close it.
func Open(ctx context.Context, dir string, consensus tailrace.Consensus, head tailrace.SeqNo, opts Options) (*Store, map[tailrace.CollectionID]State, error) {
	if opts.CacheBytes == 0 {
		opts.CacheBytes = CacheBytes
	}
	if opts.MemtableBytes == 0 {
		opts.MemtableBytes = memtableBytes
	}
	if opts.MinFree == 0 {
		opts.MinFree = MinFree
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.TableBytes == 0 {
		opts.TableBytes = TableBytes
	}
	s := &Store{dir: dir, consensus: consensus, opts: opts, writing: make(chan struct{}, 1), directories: directories{limit: opts.CacheBytes}}
	states, err := s.adopted(ctx, head)
	if err != nil && ctx.Err() == nil {
		if !errors.Is(err, errEmpty) {
			opts.Logger.Warn("the index of keys is made anew", "folder", dir, "because", err)
		}
		states, err = nil, s.Renew(ctx)
	}
	if err != nil {
		s.shut()
		return nil, nil, err
	}
	return s, states, nil
}

// adopted opens what is there and takes it over; any error means that it is of no use.
func (s *Store) adopted(ctx context.Context, head tailrace.SeqNo) (map[tailrace.CollectionID]State, error) {
	token, cs, err := s.found()
	if err != nil {
		return nil, err
	}
	s.install(cs)
	states := map[tailrace.CollectionID]State{}
	for id, c := range cs {
		if c.saved.Seq > head {
			return nil, fmt.Errorf("its collection %d is of log entry %d, and the log ends at %d", id, c.saved.Seq, head)
		}
		states[id] = c.saved
	}
	known, err := s.consensus.Head(ctx, consensusKey)
	if err != nil {
		return nil, err
	}
	if known.Seq == 0 || string(known.Value) != token {
		return nil, errors.New("it is not what this environment's last start left")
	}
	return states, s.adopt(ctx)
}

// consensusKey is where an environment keeps the token that it gave last. Nodes that share a Consensus take it from each other: then a start
// makes its index anew.
const consensusKey = "index"

// adopt gives the store a new token: first the environment's word, then the store's. After a crash between the two they differ, and the store
// is made anew.
//
// Why both checks are needed, by what may be put in the folder's place, with the log at entry 100 when a backup was taken, and at 150 when
// the index was copied:
//
//  1. The backup starts with that copy: the token is the same, the copy is of entry 150 > 100.
//  2. The backup starts without it, goes on to entry 300, stops, and gets the copy: 150 < 300, but its start has changed the token.
func (s *Store) adopt(ctx context.Context) error {
	last, err := s.consensus.Head(ctx, consensusKey)
	if err != nil {
		return fmt.Errorf("adopt index %s: %w", s.dir, err)
	}
	token := newToken()
	ok, err := s.consensus.CompareAndSet(ctx, consensusKey, last.Seq, []byte(token))
	switch {
	case err != nil:
		return fmt.Errorf("adopt index %s: %w", s.dir, err)
	case !ok:
		return fmt.Errorf("adopt index %s: another process did", s.dir)
	}
	if err := s.consensus.Truncate(ctx, consensusKey, last.Seq+1); err != nil {
		return fmt.Errorf("adopt index %s: %w", s.dir, err)
	}
	v, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(v)
	s.token = token
	if err := s.save(v.collections); err != nil {
		return s.failed("adopt", err)
	}
	return nil
}

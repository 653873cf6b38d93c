package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/rpc"
	"sync"

	"tailrace"
)

// Remote is stores that another process keeps, over a socket (Serve): what several processes of one test share. A process that is stopped holds
// nothing that others wait for; what it had sent is done, and its answers wait for it.
type Remote struct{ client *rpc.Client }

// The sentinels that an error keeps on its way.
var sentinels = []error{tailrace.ErrNotFound, tailrace.ErrExists, tailrace.ErrFull}

// Request is a call's arguments, of any of the methods. It is exported for net/rpc only.
type Request struct {
	Key, Prefix string
	Seq         tailrace.SeqNo
	Off, N      int64
	Value       []byte
}

// Answer is a call's results, of any of the methods. It is exported for net/rpc only.
type Answer struct {
	OK     bool
	Value  tailrace.Versioned
	Values []tailrace.Versioned
	Raw    []byte
	Keys   []string
	Err    string
	Is     int // 1 and up: a sentinel
}

// fail puts err into the answer.
func (a *Answer) fail(err error) error {
	if err == nil {
		return nil
	}
	a.Err = err.Error()
	for i, s := range sentinels {
		if errors.Is(err, s) {
			a.Is = i + 1
		}
	}
	return nil
}

// Serve answers the processes that connect to l, until l is closed; then it closes the connections and waits for them.
func Serve(l net.Listener, consensus tailrace.Consensus, blob tailrace.Blob) {
	server := rpc.NewServer()
	if err := server.RegisterName("Stores", &served{consensus, blob}); err != nil {
		panic("stores cannot be served: " + err.Error())
	}
	var wait sync.WaitGroup
	var conns []net.Conn
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		conns = append(conns, conn)
		wait.Go(func() { server.ServeConn(conn) })
	}
	for _, c := range conns {
		_ = c.Close() // nobody is to read on
	}
	wait.Wait()
}

// served has the methods in the form that net/rpc asks for.
type served struct {
	consensus tailrace.Consensus
	blob      tailrace.Blob
}

// Head serves Consensus.Head.
func (s *served) Head(r *Request, a *Answer) (err error) {
	a.Value, err = s.consensus.Head(context.Background(), r.Key)
	return a.fail(err)
}

// Scan serves Consensus.Scan.
func (s *served) Scan(r *Request, a *Answer) (err error) {
	a.Values, err = s.consensus.Scan(context.Background(), r.Key, r.Seq, int(r.N))
	return a.fail(err)
}

// CompareAndSet serves Consensus.CompareAndSet.
func (s *served) CompareAndSet(r *Request, a *Answer) (err error) {
	a.OK, err = s.consensus.CompareAndSet(context.Background(), r.Key, r.Seq, r.Value)
	return a.fail(err)
}

// Truncate serves Consensus.Truncate.
func (s *served) Truncate(r *Request, a *Answer) error {
	return a.fail(s.consensus.Truncate(context.Background(), r.Key, r.Seq))
}

// Get serves Blob.Get.
func (s *served) Get(r *Request, a *Answer) (err error) {
	a.Raw, err = s.blob.Get(context.Background(), r.Key, r.Off, r.N)
	return a.fail(err)
}

// Put serves Blob.Put.
func (s *served) Put(r *Request, a *Answer) error {
	return a.fail(s.blob.Put(context.Background(), r.Key, r.Value))
}

// Delete serves Blob.Delete.
func (s *served) Delete(r *Request, a *Answer) error {
	return a.fail(s.blob.Delete(context.Background(), r.Key))
}

// List serves Blob.List.
func (s *served) List(r *Request, a *Answer) error {
	for key, err := range s.blob.List(context.Background(), r.Prefix) {
		if err != nil {
			return a.fail(err)
		}
		a.Keys = append(a.Keys, key)
	}
	return nil
}

// Dial connects to stores that another process serves at a unix socket. Close ends it.
func Dial(path string) (*Remote, error) {
	client, err := rpc.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("connect to stores at %s: %w", path, err)
	}
	return &Remote{client}, nil
}

// Close ends the connection.
func (s *Remote) Close() error { return s.client.Close() }

// call is one call. An error of the connection leaves the outcome unknown, as it is with any store.
func (s *Remote) call(ctx context.Context, method string, r Request) (Answer, error) {
	var a Answer
	if err := ctx.Err(); err != nil {
		return a, err
	}
	c := s.client.Go("Stores."+method, &r, &a, make(chan *rpc.Call, 1))
	select {
	case <-c.Done:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	switch {
	case c.Error != nil:
		return Answer{}, c.Error
	case a.Is > 0:
		return Answer{}, fmt.Errorf("%s: %w", a.Err, sentinels[a.Is-1])
	case a.Err != "":
		return Answer{}, errors.New(a.Err)
	}
	return a, nil
}

// Head implements tailrace.Consensus.
func (s *Remote) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	a, err := s.call(ctx, "Head", Request{Key: key})
	return a.Value, err
}

// Scan implements tailrace.Consensus.
func (s *Remote) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) ([]tailrace.Versioned, error) {
	a, err := s.call(ctx, "Scan", Request{Key: key, Seq: from, N: int64(limit)})
	return a.Values, err
}

// CompareAndSet implements tailrace.Consensus.
func (s *Remote) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	a, err := s.call(ctx, "CompareAndSet", Request{Key: key, Seq: expect, Value: value})
	return a.OK, err
}

// Truncate implements tailrace.Consensus.
func (s *Remote) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	_, err := s.call(ctx, "Truncate", Request{Key: key, Seq: before})
	return err
}

// Get implements tailrace.Blob.
func (s *Remote) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	a, err := s.call(ctx, "Get", Request{Key: key, Off: off, N: n})
	return a.Raw, err
}

// Put implements tailrace.Blob.
func (s *Remote) Put(ctx context.Context, key string, value []byte) error {
	_, err := s.call(ctx, "Put", Request{Key: key, Value: value})
	return err
}

// Delete implements tailrace.Blob.
func (s *Remote) Delete(ctx context.Context, key string) error {
	_, err := s.call(ctx, "Delete", Request{Key: key})
	return err
}

// List implements tailrace.Blob.
func (s *Remote) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		a, err := s.call(ctx, "List", Request{Prefix: prefix})
		if err != nil {
			yield("", err)
			return
		}
		for _, key := range a.Keys {
			if !yield(key, nil) {
				return
			}
		}
	}
}

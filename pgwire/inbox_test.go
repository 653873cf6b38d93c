package pgwire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"testing"
)

// TestInboxKeepsOrderAndBound sends more than the inbox holds while nobody reads, then reads it in random pieces.
func TestInboxKeepsOrderAndBound(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	want := make([]byte, 3*InboxBytes+17)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	client, server := net.Pipe()
	in := newInbox()
	filled := make(chan error, 1)
	go func() { filled <- in.fill(server, make(chan struct{}), func(int) {}) }()
	go func() {
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(9000))
			if _, err := client.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
		client.Close()
	}()
	var got []byte
	sizes := rand.New(rand.NewPCG(seed, 1))
	for len(got) < len(want) {
		p := make([]byte, min(1+sizes.IntN(20_000), len(want)-len(got)))
		if err := in.read(t.Context(), p, nil); err != nil {
			t.Fatalf("seed %d: after %d bytes: %v", seed, len(got), err)
		}
		in.mu.Lock()
		if in.held > InboxBytes {
			t.Errorf("seed %d: inbox holds %d bytes, want at most %d", seed, in.held, InboxBytes)
		}
		in.mu.Unlock()
		got = append(got, p...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("seed %d: what was read differs from what was sent", seed)
	}
	end := <-filled // a pipe ends with EOF or as closed, whichever comes first
	if err := in.read(t.Context(), make([]byte, 1), nil); end == nil || !errors.Is(err, end) {
		t.Errorf("after the end: got %v, want %v", err, end)
	}
}

func TestWaitForAMessageStopsOnlyBetweenMessages(t *testing.T) {
	in := newInbox()
	stop := make(chan struct{})
	got := make(chan error, 1)
	go func() { got <- in.read(t.Context(), make([]byte, 2), stop) }()
	in.put([]byte("Q"))
	<-in.space // it was read
	close(stop)
	in.put([]byte("x"))
	if err := <-got; err != nil {
		t.Errorf("in the middle of a message: got %v, want it read", err)
	}
	in.put([]byte("next"))
	if err := in.read(t.Context(), make([]byte, 4), stop); !errors.Is(err, errStopped) {
		t.Errorf("between messages: got %v, want errStopped", err)
	}
}

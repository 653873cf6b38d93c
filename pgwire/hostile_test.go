package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace/catalog"
	"tailrace/log"
	"tailrace/sql"
)

// target is a server with one user, so that nobody without a password gets a session, and its address.
type target struct {
	*Server
	addr string
}

func guarded(t testing.TB) target {
	t.Helper()
	fold := catalog.NewFold()
	change := catalog.Change{User: &catalog.User{ID: 1, Name: "ann", Salt: []byte("salt"), Iterations: 4096, StoredKey: make([]byte, 32), ServerKey: make([]byte, 32)}}
	if _, err := fold.Apply(&log.Entry{Seq: 1, Time: 1, Txns: []log.Committed{{Time: 1, Records: []log.Record{change.Record()}}}}); err != nil {
		t.Fatal(err)
	}
	return serve(t, Options{Engine: &sql.Engine{Catalog: fold}})
}

// serve runs a server until the test ends.
func serve(t testing.TB, o Options) target {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(o)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if n := len(s.conns); n != 0 {
			t.Errorf("connections left after Serve: %d", n)
		}
	})
	return target{s, ln.Addr().String()}
}

// exchange sends input on a connection of its own, says that nothing more comes, and returns all that the server answers.
func (s target) exchange(t testing.TB, input []byte) []byte {
	t.Helper()
	client, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = client.Write(input)             // the server may close before it read all
	_ = client.(*net.TCPConn).CloseWrite() // then this fails
	answer, err := io.ReadAll(client)      // a reset is an end, too
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Fatalf("input %q: the connection was not closed", input)
	}
	return answer
}

func startup(version uint32, params ...string) []byte {
	body := binary.BigEndian.AppendUint32(nil, version)
	body = append(body, strings.Join(params, "\x00")...)
	body = append(body, 0, 0)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

func message(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

func TestHostileBytesCloseTheConnectionAndAreCounted(t *testing.T) {
	s := guarded(t)
	for i, input := range [][]byte{
		[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01},
		{0, 0, 0, 0, 0, 0, 0, 0},
		{0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0},
		{0, 0, 0, 8, 9, 9, 9, 9},
		startup(196608, "user"),
	} {
		before := s.Stats().Garbage
		s.exchange(t, input)
		if got := s.Stats().Garbage - before; got != 1 {
			t.Errorf("input %d: counted %d, want 1", i, got)
		}
	}
	if p := s.Stats().Panics; p != 0 {
		t.Errorf("panics: got %d, want 0", p)
	}
}

func TestOldProtocolIsToldWhatIsSpoken(t *testing.T) {
	got := guarded(t).exchange(t, startup(131072, "user", "ann"))
	if !bytes.Contains(got, []byte("unsupported frontend protocol 2.0: server supports 3.0 to 3.2")) {
		t.Errorf("got %q", got)
	}
}

func TestLargeMessageBeforeLoginIsRefused(t *testing.T) {
	input := append(startup(196608, "user", "ann"), 'p', 0x7f, 0xff, 0xff, 0xff)
	if got := guarded(t).exchange(t, input); !bytes.Contains(got, []byte("C54000")) {
		t.Errorf("got %q, want an error 54000", got)
	}
}

func TestNewerProtocolIsNegotiatedDown(t *testing.T) {
	s := guarded(t)
	got := s.exchange(t, startup(3<<16|9, "user", "ann", "_pq_.shine", "on"))
	front := pgproto3.NewFrontend(bytes.NewReader(got), io.Discard)
	m, err := front.Receive()
	if err != nil {
		t.Fatalf("answer %q: %v", got, err)
	}
	n, ok := m.(*pgproto3.NegotiateProtocolVersion)
	if !ok || n.NewestMinorProtocol != 2 || len(n.UnrecognizedOptions) != 1 || n.UnrecognizedOptions[0] != "_pq_.shine" {
		t.Errorf("got %#v, want protocol 3.2 and _pq_.shine unknown", m)
	}
}

func TestRandomBytesNeverPanic(t *testing.T) {
	s := guarded(t)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		input := startup(196608, "user", "ann")
		for range rng.IntN(60) {
			input = append(input, byte(rng.Uint32()))
		}
		s.exchange(t, input)
	}
	if p := s.Stats().Panics; p != 0 {
		t.Errorf("seed %d: %d panics", seed, p)
	}
}

// TestPanicEndsOnlyItsSession makes one with an engine that lacks almost everything.
func TestPanicEndsOnlyItsSession(t *testing.T) {
	s := serve(t, Options{Engine: &sql.Engine{Catalog: catalog.NewFold()}})
	other, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	query := append(startup(196608, "user", "ann"), message('Q', "CREATE TABLE t (a int)\x00")...)
	if got := s.exchange(t, query); !bytes.Contains(got, []byte("CXX000")) || s.Stats().Panics != 1 {
		t.Errorf("got %q, %d panics, want XX000 and 1", got, s.Stats().Panics)
	}
	if _, err := other.Write(startup(196608, "user", "ann")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(other, make([]byte, 9)); err != nil { // AuthenticationOk
		t.Errorf("another connection afterwards: %v", err)
	}
}

func TestOneTooManyIsToldSo(t *testing.T) {
	s := serve(t, Options{Engine: &sql.Engine{Catalog: catalog.NewFold()}, MaxConnections: 1})
	first, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := first.Write(startup(196608, "user", "ann")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(first, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	if got := s.exchange(t, startup(196608, "user", "ann")); !bytes.Contains(got, []byte("C53300\x00Msorry, too many clients already")) {
		t.Errorf("got %q, want 53300", got)
	}
}

func FuzzStartup(f *testing.F) {
	f.Add(startup(196608, "user", "ann", "database", "postgres"))
	f.Add(startup(80877103))
	f.Add(startup(80877102, "12345678"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	s := guarded(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		s.exchange(t, input)
		if p := s.Stats().Panics; p != 0 {
			t.Errorf("input %q: a panic", input)
		}
	})
}

func FuzzParameters(f *testing.F) {
	f.Add([]byte("user\x00ann\x00\x00"))
	f.Add([]byte("\x00"))
	f.Add([]byte("user"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if params, err := parameters(body); err == nil && params == nil {
			t.Errorf("body %q: neither parameters nor an error", body)
		}
	})
}

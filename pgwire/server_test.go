package pgwire_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"tailrace/server"
)

// running is a server in this process, on a folder of its own.
type running struct {
	addr, http string
}

// startServer runs a server until the test ends and then waits for its drain.
func startServer(t *testing.T) running {
	t.Helper()
	return startIn(t, t.TempDir())
}

func startIn(t *testing.T, dir string) running {
	t.Helper()
	return startWith(t, server.Options{Data: dir})
}

// startWith starts a server with what o says, the rest being as tests have it.
func startWith(t *testing.T, o server.Options) running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready := make(chan server.Addresses, 1)
	ended := make(chan error, 1)
	go func() {
		o.Listen, o.HTTP, o.Drain = "127.0.0.1:0", "127.0.0.1:0", 2*time.Second
		if o.Logger == nil {
			o.Logger = slog.New(slog.NewTextHandler(testWriter{t}, nil))
		}
		o.Ready = func(a server.Addresses) { ready <- a }
		ended <- server.Run(ctx, o)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	select {
	case a := <-ready:
		return running{addr: a.Postgres, http: a.HTTP}
	case err := <-ended:
		ended <- nil
		t.Fatalf("server ended before it was ready: %v", err)
		return running{}
	}
}

// testWriter gives the server's log to the test's.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	if bytes.Contains(p, []byte("internal error")) {
		w.t.Error("the server logged an internal error")
	}
	return len(p), nil
}

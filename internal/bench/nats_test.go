package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// fakeNATS fans out what is published on one subject, and pings each client before its first message.
func fakeNATS(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	var followers []net.Conn
	serve := func(conn net.Conn) {
		defer conn.Close()
		fmt.Fprint(conn, "INFO {\"server_id\":\"fake\"}\r\n")
		for in := bufio.NewReader(conn); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			mu.Lock()
			switch words := strings.Fields(line); words[0] {
			case "PING":
				fmt.Fprint(conn, "PONG\r\n")
			case "SUB":
				followers = append(followers, conn)
				fmt.Fprint(conn, "PING\r\n")
			case "PUB":
				payload, _ := in.ReadString('\n')
				end, _ := in.ReadString('\n')
				for _, f := range followers {
					fmt.Fprintf(f, "MSG %s 1 %s\r\n%s%s", words[1], words[2], payload, end)
				}
			}
			mu.Unlock()
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

func TestNATSClientsGetWhatIsPublished(t *testing.T) {
	const rows = 20
	address := fakeNATS(t)
	job := stormJob{Address: address, Clients: 3, NATS: true, Live: rows, Every: 2}
	in, out := clientProcess(t, job)
	ready(t, out)
	io.WriteString(in, "go\n")
	publisher := newStormClient(&job, -1)
	if err := publisher.connect(); err != nil {
		t.Fatal(err)
	}
	defer publisher.close()
	wrote, err := publisher.publish(context.Background(), 10_000, rows)
	if err != nil || wrote.rows != rows {
		t.Fatalf("got %+v, %v; want %d rows", wrote, err, rows)
	}
	done := started(t, io.Discard, out)
	if len(done.Errors) != 0 || len(done.Millis) != 3*rows/2 || len(done.DueMillis) != 3*rows/2 {
		t.Errorf("got %d errors, %d and %d times; want every second row of three clients: %v", len(done.Errors), len(done.Millis), len(done.DueMillis), done.Errors)
	}
	for i, late := range done.DueMillis {
		if late < 0 || late > 60_000 {
			t.Errorf("row %d came %v ms after it was due", i, late)
		}
	}
}

func TestNATSAddressComesFromAURL(t *testing.T) {
	for url, want := range map[string]string{"nats://localhost": "localhost:4222", "nats://127.0.0.1:14222": "127.0.0.1:14222"} {
		if got, err := natsAddress(url); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", url, got, err, want)
		}
	}
	if _, err := natsAddress("localhost"); err == nil || !strings.Contains(err.Error(), "nats://") {
		t.Errorf("got %v, want an error that shows a URL", err)
	}
}

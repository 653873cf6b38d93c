package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// clientProcess runs StormClients with a job. It returns what a benchmark says to it and hears.
func clientProcess(t *testing.T, job stormJob) (in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	fromUs, in := io.Pipe()
	toUs, its := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := StormClients(fromUs, its)
		its.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-ended; err != nil {
			t.Errorf("the clients: %v", err)
		}
	})
	say(t, in, job)
	return in, bufio.NewReader(toUs)
}

func say(t *testing.T, in io.Writer, what any) {
	t.Helper()
	if err := json.NewEncoder(in).Encode(what); err != nil {
		t.Fatal(err)
	}
}

// ready waits until the clients say that they are.
func ready(t *testing.T, out *bufio.Reader) {
	t.Helper()
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q, %v; want ready", line, err)
	}
}

// started lets the clients go and returns what they measured.
func started(t *testing.T, in io.Writer, out *bufio.Reader) (done stormDone) {
	t.Helper()
	io.WriteString(in, "go\n")
	if err := json.NewDecoder(out).Decode(&done); err != nil {
		t.Fatal(err)
	}
	return done
}

// TestClientsResumeAfterTheServerWasKilled: the first server dies in the middle of an update; the second is asked for what follows the last progress row.
func TestClientsResumeAfterTheServerWasKilled(t *testing.T) {
	first := fakePostgres(t, func(c *fakeConn) {
		c.query()
		c.copies("10\tt\t\\N\t\\N\n", "10\tf\t1\ta\n", "10\tf\t1\tb\n", "11\tt\t\\N\t\\N\n", "20\tf\t-1\ta\n")
	})
	asked := make(chan string, 2)
	second := fakePostgres(t, func(c *fakeConn) {
		asked <- c.query()
		c.copies("10\tt\t\\N\t\\N\n", "20\tf\t-1\ta\n", "20\tf\t1\tc\n", "21\tt\t\\N\t\\N\n")
		c.query() // until the client goes
	})
	var want rowSum
	want.add(1, []byte("b\n"))
	want.add(1, []byte("c\n"))
	for _, wrong := range []int64{0, 1} {
		in, out := clientProcess(t, stormJob{Address: first, Clients: 1, Statement: "COPY (SUBSCRIBE storm WITH (PROGRESS)) TO STDOUT", Killed: true})
		ready(t, out)
		say(t, in, stormResume{Address: second, Until: 20, Want: rowSum{want.Rows + wrong, want.Sum}})
		ready(t, out)
		done := started(t, in, out)
		if sql := <-asked; !strings.Contains(sql, "SNAPSHOT = false) AS OF 10)") {
			t.Errorf("the client resumed with %q, want AS OF 10 without a snapshot", sql)
		}
		if wrong == 0 && (len(done.Errors) != 0 || len(done.Millis) != 1) {
			t.Errorf("got %+v, want one client that got there", done)
		}
		if wrong == 1 && (len(done.Errors) != 1 || !strings.Contains(done.Errors[0], "want 3 with")) {
			t.Errorf("got %+v, want an error that tells of a missing row", done)
		}
	}
}

// TestFailedClientsAreCounted: an error of some clients is no end of the others.
func TestFailedClientsAreCounted(t *testing.T) {
	address := fakePostgres(t, func(c *fakeConn) {
		if strings.HasSuffix(c.query(), " 1") {
			c.send('E', "SFATAL\x00Mno such tenant\x00\x00")
			return
		}
		c.copies("10\tt\t\\N\t\\N\n", "10\tf\t1\ta\n", "11\tt\t\\N\t\\N\n")
		c.query()
	})
	in, out := clientProcess(t, stormJob{Address: address, Clients: 3, Statement: "SUBSCRIBE %d"})
	ready(t, out)
	done := started(t, in, out)
	if len(done.Millis) != 2 || len(done.Errors) != 1 || !strings.Contains(done.Errors[0], "no such tenant") {
		t.Errorf("got %+v, want two clients that got there and one error", done)
	}
}

// TestLiveRowsAreTimedFromTheirDueMoment: a row that was due long before its commit is late by that much.
func TestLiveRowsAreTimedFromTheirDueMoment(t *testing.T) {
	address := fakePostgres(t, func(c *fakeConn) {
		c.query()
		c.copies("10\tt\t\\N\t\\N\t\\N\n", "5000000\tf\t1\t0\t2000000\txx\n", "5000001\tt\t\\N\t\\N\t\\N\n", "6000000\tf\t1\t1\t3000000\txx\n")
		c.query()
	})
	in, out := clientProcess(t, stormJob{Address: address, Clients: 1, Statement: "SUBSCRIBE live", Live: 2, Every: 1})
	ready(t, out)
	done := started(t, in, out)
	if len(done.Millis) != 2 || len(done.DueMillis) != 2 {
		t.Fatalf("got %+v, want two rows", done)
	}
	for i := range done.Millis {
		if more := done.DueMillis[i] - done.Millis[i]; more < 2999 || more > 3001 {
			t.Errorf("row %d: from due %v ms, from commit %v ms; want 3 s more", i, done.DueMillis[i], done.Millis[i])
		}
	}
}

// TestMissingLiveRowsAreGivenUp: a server that goes on without a row is no reason to wait for ever.
func TestMissingLiveRowsAreGivenUp(t *testing.T) {
	address := fakePostgres(t, func(c *fakeConn) {
		c.query()
		c.copies("10\tt\t\\N\t\\N\t\\N\n", "20\tf\t1\t0\t10\txx\n", "60000020\tt\t\\N\t\\N\t\\N\n", "60000021\tt\t\\N\t\\N\t\\N\n")
		c.query()
	})
	in, out := clientProcess(t, stormJob{Address: address, Clients: 1, Statement: "SUBSCRIBE live", Live: 2, Every: 1})
	ready(t, out)
	if done := started(t, in, out); len(done.Errors) != 1 || !strings.Contains(done.Errors[0], "after 1 of 2 rows there was none") {
		t.Errorf("got %+v, want an error that tells of a missing row", done)
	}
}

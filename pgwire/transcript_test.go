package pgwire_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tailrace/internal/pgtest"
)

// TestTranscripts plays the scripts of testdata against Tailrace and, where both must agree, against a real PostgreSQL.
//
//	send [conn=NAME] [only=tailrace] [leave]   the input's lines are messages (see wire.send); the answers up to the last ReadyForQuery
//	----                                       that the messages lead to are printed; leave does not wait for that
//	wait [conn=NAME]                      answers up to the next ReadyForQuery
//	cancel [conn=NAME]                    a cancel request for that connection, from another one
//
// A script whose name begins with ours_ is for Tailrace only.
func TestTranscripts(t *testing.T) {
	ours := startServer(t)
	t.Run("tailrace", func(t *testing.T) {
		datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
			play(t, path, ours.addr, "postgres", "tailrace")
		})
	})
	if t.Failed() {
		return
	}
	t.Run("postgres", func(t *testing.T) {
		real := pgtest.Shared(t)
		files, err := os.ReadDir("testdata")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasPrefix(f.Name(), "ours_") || f.IsDir() {
				continue
			}
			t.Run(f.Name(), func(t *testing.T) {
				play(t, "testdata/"+f.Name(), fmt.Sprintf("127.0.0.1:%d", real.Port()), "postgres", "postgres")
			})
		}
	})
}

// play runs one script against the server at addr.
func play(t *testing.T, path, addr, user, name string) {
	conns := map[string]*wire{}
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		var only string
		conn := "a"
		for _, arg := range d.CmdArgs {
			switch arg.Key {
			case "conn":
				conn = arg.Vals[0]
			case "only":
				only = arg.Vals[0]
			}
		}
		if only != "" && only != name {
			return d.Expected
		}
		w := conns[conn]
		if w == nil {
			w = dial(t, addr)
			w.startup("user", user, "database", "postgres", "application_name", "transcript")
			conns[conn] = w
		}
		switch d.Cmd {
		case "send":
			return w.play(strings.Split(strings.TrimRight(d.Input, "\n"), "\n"), d.HasArg("leave"))
		case "wait":
			return strings.Join(w.untilReady(), "\n") + "\n"
		case "cancel":
			w.cancel()
			return "cancelled\n"
		}
		t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
		return ""
	})
}

// play sends the messages of lines and collects the answers.
func (w *wire) play(lines []string, leave bool) string {
	var out []string
	ready := 0
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "skipped "); ok { // in the wake of an error: gets no answer
			w.send(rest)
			continue
		}
		switch word, _, _ := strings.Cut(line, " "); word {
		case "Query", "Sync":
			ready++
		case "until": // until MESSAGE: answers up to it are read before the next message is sent
			w.flush()
			out = append(out, w.until(strings.TrimPrefix(line, "until "))...)
			if strings.HasPrefix(line, "until ReadyForQuery") {
				ready = 0
			}
			continue
		}
		w.send(line)
	}
	w.flush()
	if leave {
		ready = 0
	}
	for range ready {
		out = append(out, w.untilReady()...)
	}
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), "\n") + "\n"
}

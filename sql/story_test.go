package sql

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestStories runs the scripts of testdata/stories. A command is the name of a session, its input what that session sends; after a line with
// only \. follows nothing: COPY data stands between a line COPY ... and that. -rewrite writes the answers.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		w := newWorld(t)
		sessions := map[string]*client{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c := sessions[d.Cmd]
			if c == nil {
				c = w.client()
				sessions[d.Cmd] = c
			}
			text, data, _ := strings.Cut(d.Input, "\n<<<\n")
			if data != "" {
				data += "\n"
			}
			out := strings.Join(c.query(text, data), "\n") + "\n"
			if s := c.Status(); s != 'I' {
				out += "[" + string(s) + "]\n"
			}
			return out
		})
	})
}

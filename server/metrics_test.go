package server

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// allowedLabels are the labels that a metric may have: each has few values, and none is chosen by a client's statements but a source's name.
var allowedLabels = []string{"version", "state", "source", "share", "by", "quantile", "le"}

// maxSeries bounds how many series a server without sources shows.
const maxSeries = 300

// TestMetricsAreNamedHelpfulAndFew: every metric has help and a name as Prometheus wants it, and labels cannot multiply.
func TestMetricsAreNamedHelpfulAndFew(t *testing.T) {
	s := start(t, Options{Data: t.TempDir(), Version: "v0-test"})
	conn, err := connect(t, "postgres://"+s.Postgres+"/postgres")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE t (a int)"); err != nil {
		t.Fatal(err)
	}
	_, body := get(t, "http://"+s.HTTP+"/metrics")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "tailrace_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	series, kinds := 0, map[string]string{}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if words := strings.SplitN(line, " ", 4); len(words) == 4 && words[0] == "#" {
			kinds[words[2]] += words[1] + " "
			if words[1] == "HELP" && strings.HasPrefix(words[2], "tailrace_") && !strings.HasSuffix(line, ".") {
				t.Errorf("%s: help is %q, want a sentence", words[2], words[3])
			}
			continue
		}
		series++
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		if kind := kinds[name]; strings.HasPrefix(name, "tailrace_") && kind != "HELP TYPE " {
			t.Errorf("%s has %q, want HELP and TYPE", name, kind)
		}
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(line, -1) {
			if !slices.Contains(allowedLabels, label[1]) {
				t.Errorf("%s: label %s is not one of %v", name, label[1], allowedLabels)
			}
		}
	}
	if series > maxSeries || series < 50 {
		t.Errorf("series: got %d, want 50 to %d", series, maxSeries)
	}
	if resp, err := http.Post("http://"+s.HTTP+"/metrics", "text/plain", nil); err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %v, %v, want 405", resp, err)
	} else {
		_ = resp.Body.Close() // nothing is read
	}
}

package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// accepted is the list of differences from PostgreSQL that the product's documentation admits.
type accepted struct {
	exact map[string]*difference
	rules []*difference
}

// difference is one row of the list: a statement, or a /regular expression/ for many, and what both servers answer to it.
type difference struct {
	statement    string
	rule         *regexp.Regexp
	theirs, ours string // a part of the answer: rows, or SQLSTATE and message; empty for prose, which is not checked
	seen         bool   // the statements have it, and the answers differ
}

// readAccepted reads the tables of the document: rows whose first cell is code, and have four cells.
func readAccepted(t testing.TB, name string) *accepted {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a := &accepted{exact: map[string]*difference{}}
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00"), " | ")
		if len(cells) != 4 {
			t.Fatalf("%s: a row of %d cells, want 4: %s", name, len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "\x00", "|")
		}
		d := &difference{theirs: code(cells[1]), ours: code(cells[2])}
		cells[0] = code(cells[0])
		d.statement = cells[0]
		if s := cells[0]; len(s) > 2 && s[0] == '/' && s[len(s)-1] == '/' {
			if d.rule, err = regexp.Compile(s[1 : len(s)-1]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			a.rules = append(a.rules, d)
			continue
		}
		a.exact[d.statement] = d
	}
	return a
}

// code is what a cell has between backticks, "" when it is prose.
func code(cell string) string {
	cell = strings.TrimSpace(cell)
	if len(cell) < 2 || cell[0] != '`' || cell[len(cell)-1] != '`' {
		return ""
	}
	return strings.TrimSpace(strings.Trim(cell, "`"))
}

// compare checks one statement's replies against each other and the list, and reports whether they are the same.
func (a *accepted) compare(t *testing.T, statement string, theirs, ours reply) bool {
	t.Helper()
	d := a.exact[statement]
	if theirs.String() == ours.String() {
		if d != nil {
			d.seen = true
			t.Errorf("%s\n  is listed as a difference, but both answer\n    %s", statement, ours)
		}
		return true
	}
	for _, r := range a.rules {
		if d == nil && r.rule.MatchString(statement) && strings.Contains(ours.short(), r.ours) {
			d = r
		}
	}
	if d == nil {
		t.Errorf("%s\n  PostgreSQL:\n    %s\n  here:\n    %s", statement, theirs, ours)
		return false
	}
	d.seen = true
	if !strings.Contains(theirs.short(), d.theirs) || !strings.Contains(ours.short(), d.ours) {
		t.Errorf("%s\n  is listed as %q and %q, but answered\n    %q\n    %q", statement, d.theirs, d.ours, theirs.short(), ours.short())
	}
	return false
}

// unused fails for what is listed and no statement showed.
func (a *accepted) unused(t *testing.T) {
	t.Helper()
	for s, d := range a.exact {
		if !d.seen {
			t.Errorf("%s\n  is listed as a difference, but no file has it", s)
		}
	}
	for _, d := range a.rules {
		if !d.seen {
			t.Errorf("%s\n  is listed as a difference, but no statement shows it", d.statement)
		}
	}
}

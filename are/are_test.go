package are

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace/internal/pgtest"
)

// TestMatchesAsPostgresDoes compares the groups of random expressions on random texts, and the errors of those that are wrong.
func TestMatchesAsPostgresDoes(t *testing.T) {
	ctx := t.Context()
	c, err := pgconn.Connect(ctx, pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	refused := 0
	for i := range 1500 {
		pattern, text, flags := randomPattern(rnd, 3), randomText(rnd), []string{"", "i", "n", "in", "x"}[max(rnd.IntN(12)-7, 0)]
		if i%10 == 0 { // also what is no expression
			runes := []rune(pattern)
			pattern = string(slices.Insert(runes, rnd.IntN(len(runes)+1), rune("()[]{}*?\\|"[rnd.IntN(10)])))
		}
		want := ask(t, c, text, pattern, flags)
		got := answer(text, pattern, flags)
		if strings.Contains(got, "not supported") {
			refused++
			continue
		}
		if got != want {
			t.Errorf("seed %d: '%s' ~ '%s' with flags %q: got %s, PostgreSQL has %s", seed, text, pattern, flags, got, want)
		}
	}
	t.Logf("%d expressions refused", refused)
}

// TestKnownCases are the ones that engines of Perl's kind answer otherwise.
func TestKnownCases(t *testing.T) {
	for _, c := range []struct{ text, pattern, want string }{
		{"xyz", "(x|xy)(z|yz)", "[xy z]"},
		{"XY1234Z", "Y*?([0-9]{1,3})", "[1]"},
		{"XY1234Z", "Y*([0-9]{1,3})", "[123]"},
		{"abc01234xyz", "(?:(.*?)(\\d+)(.*)){1,1}", "[abc 01234 xyz]"},
		{"foobarbequebaz", "(bar)(beque)", "[bar beque]"},
		{"abab", "(a|b)*", "[b]"},
		{"foo bar", "\\mbar\\M", "[bar]"},
		{"É", "(?i)é", "none"},
	} {
		if got := answer(c.text, c.pattern, ""); got != c.want {
			t.Errorf("'%s' ~ '%s': got %s, want %s", c.text, c.pattern, got, c.want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("a(b|c)*d{2,3}?[^[:alpha:]x-z]\\m(?=y)$", "abcdd y")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := Compile(pattern, Flags{})
		if err != nil {
			return
		}
		m, err := re.Find([]byte(text), 0)
		if err != nil || m == nil {
			return
		}
		if m[0] > m[1] || m[1] > len(text) {
			t.Errorf("%q in %q: match %v", pattern, text, m)
		}
	})
}

func answer(text, pattern, flags string) string {
	var f Flags
	for _, c := range flags {
		f.Set(c)
	}
	re, err := Compile(pattern, f)
	if err != nil {
		return "error: " + err.Error()
	}
	m, err := re.Find([]byte(text), 0)
	if err != nil {
		return "error: " + err.Error()
	}
	if m == nil {
		return "none"
	}
	if ok, err := re.Match([]byte(text)); !ok || err != nil {
		return fmt.Sprintf("Match says %v, %v", ok, err)
	}
	var parts []string
	for g := min(1, re.Groups()); g <= re.Groups(); g++ {
		if m[2*g] < 0 {
			parts = append(parts, "NULL")
		} else {
			parts = append(parts, text[m[2*g]:m[2*g+1]])
		}
	}
	return fmt.Sprint(parts)
}

func ask(t *testing.T, c *pgconn.PgConn, text, pattern, flags string) string {
	t.Helper()
	r := c.ExecParams(t.Context(), "SELECT v IS NULL, v FROM (SELECT unnest(regexp_match($1, $2, $3)) AS v) x", [][]byte{[]byte(text), []byte(pattern), []byte(flags)}, nil, nil, nil).Read()
	var pe *pgconn.PgError
	if errors.As(r.Err, &pe) {
		return "error: " + strings.TrimPrefix(pe.Message, "invalid regular expression: ")
	}
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var parts []string
	for _, row := range r.Rows {
		if row[1] == nil {
			parts = append(parts, "NULL")
		} else {
			parts = append(parts, string(row[1]))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return fmt.Sprint(parts)
}

func randomText(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(10) {
		b.WriteString([]string{"a", "a", "b", "b", "c", "A", "1", " ", "é", "\n"}[rnd.IntN(10)])
	}
	return b.String()
}

func randomPattern(rnd *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "c", "a", "b", ".", "[ab]", "[^a]", "\\w", "\\d", "[[:alpha:]]", "\\s", "é", "1", "^", "$", "\\m", "\\M", "\\y", "\\W", "[a-c1]"}
	var b strings.Builder
	for k := range 1 + rnd.IntN(3) {
		if k > 0 && rnd.IntN(4) == 0 {
			b.WriteByte('|')
		}
		atom := atoms[rnd.IntN(len(atoms))]
		if depth > 0 && rnd.IntN(3) == 0 {
			open := []string{"(", "(", "(", "(?:", "(?=", "(?!"}[rnd.IntN(6)]
			inner := randomPattern(rnd, depth-1)
			if open == "(?=" || open == "(?!" {
				inner = "a|b1"
			}
			atom = open + inner + ")"
			if strings.HasPrefix(open, "(?=") || strings.HasPrefix(open, "(?!") {
				b.WriteString(atom)
				continue
			}
		}
		b.WriteString(atom)
		if !slices.Contains([]string{"^", "$", "\\m", "\\M", "\\y"}, atom) && rnd.IntN(2) == 0 {
			b.WriteString([]string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1}", "{2}?"}[rnd.IntN(11)])
		}
	}
	return b.String()
}

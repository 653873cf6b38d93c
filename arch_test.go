package tailrace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// room is one package: its level, and the packages of ours that it may import besides the root, which all may.
type room struct {
	level   int
	imports string
}

// rooms is the map of ARCHITECTURE.md. A package imports only lower levels. When a real need calls for another package or edge, change this
// table and that page in the same commit and say why.
var rooms = map[string]room{
	"": {0, ""}, // the words and the seams

	"log":      {1, ""},
	"are":      {1, ""},
	"budget":   {1, ""},
	"pool":     {1, ""},
	"fsst":     {1, ""},
	"stripe":   {1, "pool fsst"}, // sideways: what encodes runs on the pool, and texts by symbol tables
	"format":   {1, ""},
	"expr":     {1, "format"}, // sideways: functions of values end in text
	"parse":    {1, ""},
	"duckdb":   {1, ""},
	"file":     {1, ""},
	"pebble":   {1, ""},
	"index":    {1, ""}, // rows by key, in files of its own
	"postgres": {1, ""},
	"mysql":    {1, ""}, // a MariaDB or MySQL as a target

	"schedule": {1, ""}, // who reads next in a changefeed: a pure machine
	"steps":    {1, ""}, // updates into steps of a target

	"catalog": {2, "log"},
	"redo":    {2, "steps"},         // a changefeed's redo log
	"parquet": {2, "duckdb format"}, // beside query: files, whose types are not those of queries
	"shard":   {2, "budget log stripe expr index pool"},

	"tail":     {3, "budget catalog shard log format expr"},
	"query":    {3, "are format expr parse duckdb"},
	"dataflow": {3, "budget shard expr"}, // the twin of tail: it reads shards for itself
	"system":   {3, "catalog format expr"},

	"sql":        {4, "budget catalog tail dataflow query system shard log format expr parse pool stripe parquet"},
	"ingest":     {4, "budget catalog shard log format expr pool"},
	"changefeed": {4, "catalog tail system shard log format schedule steps redo"},

	"pgwire": {5, "budget sql parse format catalog"},

	"server":       {6, "budget parquet pool pgwire sql ingest changefeed system tail query shard catalog log stripe format file pebble postgres mysql"},
	"cmd/tailrace": {7, "server postgres ingest parquet redo file format internal/bench internal/bench/duck internal/bench/feedsim"}, // parquet, format: export and load, over the wire; redo, file: redo apply

	// What only tests and measurements use.
	"internal/sim":           {1, ""},
	"internal/sim/conform":   {1, ""},
	"internal/pgtest":        {1, ""},
	"internal/mytest":        {1, ""},
	"internal/bench":         {3, "shard log file pebble format stripe pool internal/bench/shape internal/bench/duck"}, // to measure below SQL: lookups, and the stages of a load
	"internal/bench/shape":   {1, ""},
	"internal/bench/feedsim": {2, "schedule"}, // changefeeds in virtual time
	"internal/bench/duck":    {1, ""},         // a DuckDB of its own, the peer of loads
	"internal/e2e":           {7, ""},
	"internal/sim/world":     {7, "server ingest log budget internal/sim"}, // whole nodes
}

// sideways are edges within a level that have their reason in the table.
var sideways = []string{"expr format", "stripe pool", "stripe fsst"}

// onlyIn names what may not be imported elsewhere: the cgo packages, so that other packages' tests stay quick, and the drivers that an
// adapter hides.
var onlyIn = map[string][]string{
	"github.com/duckdb":                {"duckdb", "internal/bench/duck"},
	"github.com/pganalyze/pg_query_go": {"expr", "parse", "query", "sql"},
	"github.com/cockroachdb/pebble":    {"pebble"},
	"github.com/jackc/pglogrepl":       {"postgres"},
	"github.com/go-sql-driver/mysql":   {"mysql", "internal/mytest"},
	"github.com/jackc/pgx/v5/pgproto3": {"pgwire", "postgres", "internal/sim/world"},
	"github.com/prometheus":            {"server"},
	"github.com/alecthomas/kong":       {"cmd/tailrace"},
	"github.com/cockroachdb/apd":       {"expr", "format", "query"},
}

// source is one package as it stands in the tree.
type source struct {
	imports []string // of files that are no tests
	comment string
}

// tree reads every package below the root.
func tree(t *testing.T) map[string]*source {
	t.Helper()
	found := map[string]*source{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(name))
		if pkg == "." {
			pkg = ""
		}
		if found[pkg] == nil {
			found[pkg] = &source{}
		}
		found[pkg].add(file, strings.HasSuffix(name, "_test.go"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *source) add(file *ast.File, test bool) {
	if file.Doc != nil && s.comment == "" && !strings.HasSuffix(file.Name.Name, "_test") {
		s.comment = file.Doc.Text()
	}
	if test {
		return
	}
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			s.imports = append(s.imports, p)
		}
	}
}

func TestPackagesImportOnlyWhatTheMapAllows(t *testing.T) {
	for pkg, src := range tree(t) {
		r, ok := rooms[pkg]
		if !ok {
			t.Errorf("package %q is not in the map: add it to rooms and to ARCHITECTURE.md, with its reason in the commit", pkg)
			continue
		}
		for _, p := range src.imports {
			for prefix, allowed := range onlyIn {
				if strings.HasPrefix(p, prefix) && !slices.Contains(allowed, pkg) {
					t.Errorf("%s imports %s: only %v may", pkg, p, allowed)
				}
			}
			inner, ours := strings.CutPrefix(p, "tailrace/")
			if !ours {
				continue
			}
			if !slices.Contains(strings.Fields(r.imports), inner) {
				t.Errorf("%s imports %s: that edge is not in the map", pkg, inner)
			}
		}
	}
}

func TestMapGoesDownOnly(t *testing.T) {
	for pkg, r := range rooms {
		for _, p := range strings.Fields(r.imports) {
			lower, ok := rooms[p]
			switch {
			case !ok:
				t.Errorf("the map lets %s import %s, which is not in it", pkg, p)
			case lower.level >= r.level && !slices.Contains(sideways, pkg+" "+p):
				t.Errorf("the map lets %s (level %d) import %s (level %d)", pkg, r.level, p, lower.level)
			}
		}
	}
}

func TestRootImportsOnlyTheStandardLibrary(t *testing.T) {
	for _, p := range tree(t)[""].imports {
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") || first == "tailrace" {
			t.Errorf("the root package imports %s", p)
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for pkg, src := range tree(t) {
		name := path.Base(pkg)
		if pkg == "" {
			name = "tailrace"
		}
		if !strings.HasPrefix(src.comment, "Package "+name+" ") && !strings.HasPrefix(src.comment, "Command "+name+" ") {
			t.Errorf("package %q: its comment begins %.40q, want \"Package %s ...\"", pkg, src.comment, name)
		}
	}
}

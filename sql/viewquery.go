package sql

import (
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tailrace/catalog"
	"tailrace/expr"
)

// viewQuery is the query of a view while names in it are changed. A view keeps its query as text in which every relation and every type has its
// schema, so that its meaning does not hang on who reads it. When something it uses is renamed, the text is rewritten in the same transaction.
// Where the columns of a table change under a view, the table is pinned in it:
//
//	FROM public.t            after ALTER TABLE t RENAME a TO x, or ADD COLUMN, becomes
//	FROM (SELECT x AS a, b FROM ONLY public.t) AS t
//
// so that names and * in the rest of the query go on to mean what they did. ONLY, which means nothing without inheritance and is taken out of what users
// write, marks a pin.
type viewQuery struct {
	tree *pg_query.Node
}

// openQuery is the query of a view, to be changed.
func (s *Session) openQuery(v *catalog.View) (*viewQuery, error) {
	sts, err := s.engine.texts.Parse(v.Query)
	if err != nil {
		return nil, fmt.Errorf("read the query of view %s: %w", v.Name, err)
	}
	return &viewQuery{tree: proto.Clone(sts[0].Tree).(*pg_query.Node)}, nil
}

// text is the query as SQL.
func (q *viewQuery) text() (string, error) {
	text, err := pg_query.Deparse(&pg_query.ParseResult{Version: grammarVersion, Stmts: []*pg_query.RawStmt{{Stmt: q.tree}}})
	if err != nil {
		return "", fmt.Errorf("write the query of a view: %w", err)
	}
	return text, nil
}

// visitor is called with each node of a query, outside in, and the names that WITH gives there. It may replace what the node holds.
type visitor func(n *pg_query.Node, with []string)

func (q *viewQuery) walk(visit visitor) { walkNode(q.tree, nil, visit) }

func walkNode(n *pg_query.Node, with []string, visit visitor) {
	visit(n, with)
	if sel := n.GetSelectStmt(); sel != nil {
		walkSelect(sel, with, visit)
		return
	}
	walkMessage(n.ProtoReflect(), with, visit)
}

// walkSelect walks a SELECT: a query of WITH is known to those after it, and to itself when it is RECURSIVE.
func walkSelect(sel *pg_query.SelectStmt, with []string, visit visitor) {
	if w := sel.WithClause; w != nil {
		if w.Recursive {
			for _, c := range w.Ctes {
				with = append(slices.Clone(with), c.GetCommonTableExpr().GetCtename())
			}
		}
		for _, c := range w.Ctes {
			walkNode(c, with, visit)
			with = append(slices.Clone(with), c.GetCommonTableExpr().GetCtename())
		}
	}
	for _, side := range []*pg_query.SelectStmt{sel.Larg, sel.Rarg} {
		if side != nil {
			walkSelect(side, with, visit)
		}
	}
	r := sel.ProtoReflect()
	r.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if name := f.Name(); name != "with_clause" && name != "larg" && name != "rarg" {
			walkField(f, v, with, visit)
		}
		return true
	})
}

func walkMessage(m protoreflect.Message, with []string, visit visitor) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		walkField(f, v, with, visit)
		return true
	})
}

func walkField(f protoreflect.FieldDescriptor, v protoreflect.Value, with []string, visit visitor) {
	if f.Kind() != protoreflect.MessageKind {
		return
	}
	one := func(m protoreflect.Message) {
		switch n := m.Interface().(type) {
		case *pg_query.Node:
			walkNode(n, with, visit)
		case *pg_query.SelectStmt:
			walkSelect(n, with, visit)
		default:
			walkMessage(m, with, visit)
		}
	}
	if f.IsList() {
		for i := range v.List().Len() {
			one(v.List().Get(i).Message())
		}
		return
	}
	one(v.Message())
}

// relations calls f with each table or view that the query reads, and the node that holds its name.
func (q *viewQuery) relations(f func(n *pg_query.Node, rel *pg_query.RangeVar)) {
	q.walk(func(n *pg_query.Node, with []string) {
		if rel := n.GetRangeVar(); rel != nil && (rel.Schemaname != "" || !slices.Contains(with, rel.Relname)) {
			f(n, rel)
		}
	})
}

// types calls f with each name of a type in the query.
func (q *viewQuery) types(f func(t *pg_query.TypeName)) {
	q.walk(func(n *pg_query.Node, _ []string) {
		switch {
		case n.GetTypeCast() != nil:
			f(n.GetTypeCast().TypeName)
		case n.GetColumnDef() != nil:
			f(n.GetColumnDef().TypeName)
		}
	})
}

// qualify writes all names in full and returns what the query uses.
func (s *Session) qualify(q *viewQuery) (uses []catalog.ID) {
	use := func(id catalog.ID) {
		if !slices.Contains(uses, id) {
			uses = append(uses, id)
		}
	}
	seen := map[string]int{}
	q.relations(func(_ *pg_query.Node, rel *pg_query.RangeVar) {
		rel.Inh = true
		seen[rangeName(rel)]++
		if schema := s.systemOf(rel.Schemaname, rel.Relname); schema != "" {
			rel.Schemaname = schema
			return
		}
		if o := s.named(rel.Schemaname, rel.Relname); !o.none() {
			rel.Schemaname = o.schema()
			use(o.id())
		}
	})
	q.types(func(t *pg_query.TypeName) {
		if _, err := expr.TypeName(t); err == nil {
			return // one of PostgreSQL's own
		}
		if u := s.userType(lastTwo(t.Names)); u != nil {
			t.Names = []*pg_query.Node{stringNode(u.Schema), stringNode(u.Name)}
			use(u.ID)
		}
	})
	q.walk(func(n *pg_query.Node, _ []string) { // schema.table.column would not follow a rename
		if fields := n.GetColumnRef().GetFields(); len(fields) == 3 && seen[fields[1].GetString_().GetSval()] == 1 {
			n.GetColumnRef().Fields = fields[1:]
		}
	})
	slices.Sort(uses)
	return uses
}

// rangeName is what a FROM item is called in the query.
func rangeName(rel *pg_query.RangeVar) string {
	if a := rel.Alias.GetAliasname(); a != "" {
		return a
	}
	return rel.Relname
}

// renameRelation makes the query read to.name where it read from.was, which it goes on to call as it did.
func (q *viewQuery) renameRelation(from, was, to, name string) {
	q.relations(func(_ *pg_query.Node, rel *pg_query.RangeVar) {
		if rel.Schemaname != from || rel.Relname != was {
			return
		}
		if rel.Schemaname, rel.Relname = to, name; rel.Alias == nil && name != was && rel.Inh {
			rel.Alias = &pg_query.Alias{Aliasname: was}
		}
	})
}

func (q *viewQuery) renameType(from, was, to, name string) {
	q.types(func(t *pg_query.TypeName) {
		if schema, typ := lastTwo(t.Names); schema == from && typ == was {
			t.Names = []*pg_query.Node{stringNode(to), stringNode(name)}
		}
	})
}

// rewriteViews changes the queries of all views that use an object, in the transaction.
func (s *Session) rewriteViews(id catalog.ID, edit func(q *viewQuery)) error {
	for _, v := range viewsOf(s.txn.catalog, id) {
		q, err := s.openQuery(v)
		if err != nil {
			return err
		}
		edit(q)
		changed := *v
		if changed.Query, err = q.text(); err != nil {
			return err
		}
		s.txn.change(catalog.Change{View: &changed})
	}
	return nil
}

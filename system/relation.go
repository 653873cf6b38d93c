package system

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"tailrace"
)

// Relation is a table whose rows are made up when it is read.
type Relation struct {
	Schema string
	Name   string
	OID    uint32
	Fields *tailrace.Schema
	View   bool // PostgreSQL has it as a view

	optional []bool // the column may be NULL
}

// row is one row by column. A column that is left out is zero or NULL.
type row map[string]any

// Schemas are those of the relations.
const (
	pgCatalog         = "pg_catalog"
	informationSchema = "information_schema"
	mzInternal        = "mz_internal"
	public            = "public"
)

// IsSystem reports whether schema is one of the system's own.
func IsSystem(schema string) bool {
	return schema == pgCatalog || schema == informationSchema || schema == mzInternal
}

//go:embed columns.txt
var columns string

// relations is every relation, by schema and name, in the order of columns.txt. It is built when the program starts and only read.
var relations, relationList = parseColumns(columns)

// typeWords are the columns' types as we have them. What PostgreSQL has and we do not is text, as clients print it.
var typeWords = map[string]tailrace.Type{
	"bool": tailrace.TypeOf(tailrace.KindBool), "int2": tailrace.TypeOf(tailrace.KindInt2), "int4": tailrace.TypeOf(tailrace.KindInt4),
	"int8": tailrace.TypeOf(tailrace.KindInt8), "float4": tailrace.TypeOf(tailrace.KindFloat4), "float8": tailrace.TypeOf(tailrace.KindFloat8),
	"numeric": tailrace.TypeOf(tailrace.KindNumeric), "text": tailrace.TypeOf(tailrace.KindText), "varchar": tailrace.TypeOf(tailrace.KindVarchar),
	"name": tailrace.TypeOf(tailrace.KindName), "char": tailrace.TypeOf(tailrace.KindLetter), "oid": tailrace.TypeOf(tailrace.KindOID),
	"regproc": tailrace.TypeOf(tailrace.KindRegproc), "regtype": tailrace.TypeOf(tailrace.KindRegtype), "bytea": tailrace.TypeOf(tailrace.KindBytea),
	"timestamptz": tailrace.TypeOf(tailrace.KindTimestamptz), "interval": tailrace.TypeOf(tailrace.KindInterval), "uuid": tailrace.TypeOf(tailrace.KindUUID),
	"pg_node_tree": tailrace.TypeOf(tailrace.KindText), "anyarray": tailrace.TypeOf(tailrace.KindText), "inet": tailrace.TypeOf(tailrace.KindText),
	"pg_lsn": tailrace.TypeOf(tailrace.KindText), "xid": tailrace.TypeOf(tailrace.KindOID),
	"_aclitem": tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindText)), "_text": tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindText)),
	"_int2": tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindInt2)), "_oid": tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindOID)),
	"_char": tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindLetter)), "_name": tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindName)),
	"_regtype":   tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindRegtype)),
	"int2vector": tailrace.VectorOf(tailrace.KindInt2), "oidvector": tailrace.VectorOf(tailrace.KindOID),
}

func parseColumns(text string) (byName map[string]*Relation, list []*Relation) {
	byName = map[string]*Relation{}
	for line := range strings.Lines(text) {
		name, cols, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		r := &Relation{Fields: &tailrace.Schema{Version: 1}}
		r.Schema, r.Name, _ = strings.Cut(name, ".")
		r.OID = catalogOIDs[r.Name]
		if r.View = r.OID == 0; r.View {
			r.OID = firstViewOID + uint32(len(list))
		}
		for i, col := range strings.Split(cols, ", ") {
			name, word, _ := strings.Cut(col, " ")
			word, optional := strings.CutSuffix(word, "?")
			t, ok := typeWords[word]
			if !ok {
				panic("columns.txt: no type " + word)
			}
			r.Fields.Fields = append(r.Fields.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: name, Type: t, NotNull: !optional && r.Schema == pgCatalog})
			r.optional = append(r.optional, optional || r.Schema == informationSchema)
		}
		byName[name] = r
		list = append(list, r)
	}
	return byName, list
}

// Find returns a relation by name, nil when there is none. Without a schema it is looked for in pg_catalog, in the schemas of path, and in
// mz_internal at the end.
func Find(schema, name string, path []string) *Relation {
	if schema != "" {
		return relations[schema+"."+name]
	}
	for _, s := range slices.Concat([]string{pgCatalog}, path, []string{mzInternal}) {
		if r := relations[s+"."+name]; r != nil {
			return r
		}
	}
	return nil
}

// Read makes the rows.
func (r *Relation) Read(w *World) *tailrace.Batch {
	b := tailrace.NewBatch(r.Fields, 0)
	rows := rowsOf[r.Schema+"."+r.Name]
	if rows == nil {
		return b
	}
	rows(w, func(v row) {
		used := 0
		for i, f := range r.Fields.Fields {
			val, given := v[f.Name]
			if given {
				used++
			}
			switch {
			case val != nil:
				appendValue(&b.Cols[i], f.Type, val)
			case r.optional[i]:
				b.Cols[i].AppendNull()
			default:
				appendZero(&b.Cols[i], f.Type)
			}
		}
		if used != len(v) {
			panic(fmt.Sprintf("a row of %s.%s with columns that it does not have: %v", r.Schema, r.Name, v))
		}
		b.N++
	})
	return b
}

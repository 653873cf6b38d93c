package query

import (
	"encoding/binary"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// expandArray is a function of information_schema's that drivers call for the columns of a key: the set of an array's elements x with their numbers
// n. Its rows are the only ones of that kind, so each is kept as an array of x and n, whose type has the function's name.
const expandArray = "_pg_expandarray"

// expanded plans a call of it, for arrays of whole numbers.
func (p *planner) expanded(args []expr, loc int32) (rowSet, error) {
	if len(args) != 1 || args[0].typ.Kind != kArray {
		return rowSet{}, p.noFunction(expandArray, args, loc)
	}
	element := tailrace.TypeOf(args[0].typ.Elem)
	if !becomes(element.Kind, kOID) {
		return rowSet{}, p.refuse(loc, expandArray+" of anything but whole numbers")
	}
	v, i := p.alias("v"), p.alias("i")
	x := expr{sql: valueSQL(v, element), typ: element}
	n := expr{sql: "CAST(" + i + " AS " + engineTypes[element.Kind].name + ")", typ: element}
	list := "list_transform(tr_array_list(" + args[0].sql + "), lambda " + v + ", " + i + ": tr_array(" + listSQL([]expr{x, n}) + "))"
	pair := tailrace.ArrayOf(element)
	pair.Name = expandArray
	return rowSet{list: list, columns: []setColumn{{expandArray, pair, item0}}}, nil
}

// pairField is (e).x or (e).n of a row of expandArray; ok is false for anything else.
func pairField(e expr, field *pg_query.Node) (out expr, ok bool) {
	number, known := map[string]string{"x": "1", "n": "2"}[field.GetString_().GetSval()]
	if e.typ.Name != expandArray || !known {
		return e, false
	}
	t := tailrace.TypeOf(e.typ.Elem)
	get := valueSQL("tr_array_get("+e.sql+", CAST([tr_raw_int4(CAST("+number+" AS INTEGER))] AS BLOB[]))", t)
	if number == "2" {
		t = tailrace.TypeOf(kInt4)
		get = "CAST(" + get + " AS INTEGER)"
	}
	return expr{sql: get, typ: t, loc: e.loc}, true
}

// typeOf is pg_typeof.
func typeOf(e expr) expr {
	oid := e.typ.OID()
	if e.untyped() {
		oid = unknownOID
	}
	return expr{sql: stored(kRegtype, binary.LittleEndian.AppendUint32(nil, oid)), typ: tailrace.TypeOf(kRegtype)}
}

// unknownOID is PostgreSQL's type of a literal that nothing gave a type.
const unknownOID = 705

package expr

import (
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// typeNames are the names that PostgreSQL's grammar leaves in a TypeName.
var typeNames = map[string]tailrace.Kind{
	"bool": tailrace.KindBool, "boolean": tailrace.KindBool, "int2": tailrace.KindInt2, "smallint": tailrace.KindInt2, "int4": tailrace.KindInt4, "int": tailrace.KindInt4, "integer": tailrace.KindInt4,
	"int8": tailrace.KindInt8, "bigint": tailrace.KindInt8, "float4": tailrace.KindFloat4, "real": tailrace.KindFloat4, "float8": tailrace.KindFloat8, "numeric": tailrace.KindNumeric, "decimal": tailrace.KindNumeric,
	"text": tailrace.KindText, "varchar": tailrace.KindVarchar, "bpchar": tailrace.KindChar, "bytea": tailrace.KindBytea, "date": tailrace.KindDate,
	"time": tailrace.KindTime, "timestamp": tailrace.KindTimestamp, "timestamptz": tailrace.KindTimestamptz, "interval": tailrace.KindInterval,
	"uuid": tailrace.KindUUID, "json": tailrace.KindJSON, "jsonb": tailrace.KindJSONB, "oid": tailrace.KindOID, "name": tailrace.KindName, "char": tailrace.KindLetter,
	"regclass": tailrace.KindRegclass, "regtype": tailrace.KindRegtype, "regproc": tailrace.KindRegproc, "regnamespace": tailrace.KindRegnspace, "regrole": tailrace.KindRegrole,
}

// foreign are PostgreSQL's types that exist there and not here: refused with 0A000 rather than as unknown.
const foreign = " money bit varbit timetz inet cidr macaddr macaddr8 xml point line lseg box path polygon circle tsvector tsquery pg_lsn" +
	" int4range int8range numrange tsrange tstzrange daterange xid cid tid pg_snapshot jsonpath "

// TypeName is the built-in type that n names: int, int[], _int4. The error is 42704 for one that does not exist or is a user's, 0A000 for one that is not
// to be had here; Position is left to the caller, who knows the text that n.Location counts in.
func TypeName(n *pg_query.TypeName) (tailrace.Type, error) {
	var name string
	for _, part := range n.Names {
		name = part.GetString_().GetSval() // the last part: pg_catalog.int4
	}
	if n.Setof || n.PctType {
		return tailrace.Type{}, &tailrace.Error{Code: "0A000", Message: "this form of type name is not supported"}
	}
	array := len(n.ArrayBounds) > 0 // PostgreSQL, too, ignores how many there are and what they say
	k, ok := typeNames[name]
	if element, found := typeNames[strings.TrimPrefix(name, "_")]; !ok && found && !array {
		k, ok, array = element, true, true
	}
	switch {
	case ok:
	case strings.Contains(name, "serial"):
		return tailrace.Type{}, &tailrace.Error{Code: "0A000", Message: fmt.Sprintf("type %s is not supported", name), Hint: "Use bigint, or uuid DEFAULT gen_random_uuid()."}
	case strings.Contains(foreign, " "+name+" "):
		return tailrace.Type{}, &tailrace.Error{Code: "0A000", Message: fmt.Sprintf("type %s is not supported", name), Hint: "Use text to keep its value as text."}
	default:
		return tailrace.Type{}, &tailrace.Error{Code: "42704", Message: fmt.Sprintf("type \"%s\" does not exist", name)}
	}
	mod, err := typeMod(k, name, n.Typmods)
	t := tailrace.Type{Kind: k, Mod: mod}
	if array {
		t = tailrace.ArrayOf(t)
	}
	return t, err
}

// typeOf is the type that n names in s, with Position set in an error. domain is not nil when it is a domain; t is then the type under it.
func (s *Scope) typeOf(n *pg_query.TypeName) (t tailrace.Type, domain *tailrace.NamedType, err error) {
	schema, name := "", n.Names[len(n.Names)-1].GetString_().GetSval()
	if len(n.Names) > 1 {
		schema = n.Names[len(n.Names)-2].GetString_().GetSval()
	}
	if schema == "" || schema == "pg_catalog" {
		if t, err = TypeName(n); tailrace.Code(err) != "42704" {
			return t, nil, s.at(n.Location, err)
		}
	}
	var named *tailrace.NamedType
	array := len(n.ArrayBounds) > 0
	if s.Type != nil {
		if named = s.Type(schema, name); named == nil && strings.HasPrefix(name, "_") && !array {
			named, array = s.Type(schema, name[1:]), true
		}
	}
	switch {
	case named == nil && schema != "":
		return t, nil, s.fail(n.Location, "42704", fmt.Sprintf("type \"%s.%s\" does not exist", schema, name))
	case named == nil && array:
		return t, nil, s.fail(n.Location, "42704", fmt.Sprintf("type \"%s[]\" does not exist", name))
	case named == nil:
		return t, nil, s.at(n.Location, err)
	case len(n.Typmods) > 0:
		return t, nil, s.fail(n.Location, "42601", fmt.Sprintf("type modifier is not allowed for type \"%s\"", name))
	case named.Domain != 0 && array:
		return t, nil, &tailrace.Error{
			Code: "0A000", Message: fmt.Sprintf("an array of the domain %s is not supported", named.Name), Hint: "Use an array of " + named.Type.String() + ".", Position: s.position(n.Location),
		}
	case named.Domain != 0:
		return named.Type, named, nil
	case array:
		return tailrace.ArrayOf(named.Type), nil, nil
	}
	return named.Type, nil, nil
}

// typeMod turns the numbers after a type's name into PostgreSQL's modifier.
func typeMod(k tailrace.Kind, name string, nodes []*pg_query.Node) (int32, error) {
	if len(nodes) == 0 {
		return -1, nil
	}
	var mods []int32
	for _, n := range nodes {
		v, ok := constInt(n)
		if !ok {
			return 0, failure("42601", "type modifiers must be simple constants or identifiers")
		}
		mods = append(mods, v)
	}
	switch k {
	case tailrace.KindVarchar, tailrace.KindChar:
		shown := "varchar"
		if k == tailrace.KindChar {
			shown = "char"
		}
		if mods[0] < 1 {
			return 0, failure("22023", fmt.Sprintf("length for type %s must be at least 1", shown))
		}
		if mods[0] > 10485760 {
			return 0, failure("22023", fmt.Sprintf("length for type %s cannot exceed 10485760", shown))
		}
		return mods[0] + 4, nil
	case tailrace.KindNumeric:
		return numericMod(mods)
	case tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		if mods[0] < 0 {
			return 0, failure("22023", fmt.Sprintf("%s(%d) precision must not be negative", strings.ToUpper(name), mods[0]))
		}
		return min(mods[0], 6), nil
	case tailrace.KindInterval:
		if len(mods) == 1 {
			mods = append(mods, 0xffff)
		}
		return mods[0]<<16 | mods[1]&0xffff, nil
	}
	return 0, failure("42601", fmt.Sprintf("type modifier is not allowed for type \"%s\"", name))
}

func numericMod(mods []int32) (int32, error) {
	if mods[0] < 1 || mods[0] > 1000 {
		return 0, failure("22023", fmt.Sprintf("NUMERIC precision %d must be between 1 and 1000", mods[0]))
	}
	scale := int32(0)
	if len(mods) > 1 {
		scale = mods[1]
	}
	if scale < -1000 || scale > 1000 {
		return 0, failure("22023", fmt.Sprintf("NUMERIC scale %d must be between -1000 and 1000", scale))
	}
	return (mods[0]<<16 | scale&0x7ff) + 4, nil
}

func constInt(n *pg_query.Node) (int32, bool) {
	if a := n.GetAExpr(); a != nil && a.Lexpr == nil && len(a.Name) == 1 && a.Name[0].GetString_().GetSval() == "-" {
		v, ok := constInt(a.Rexpr)
		return -v, ok
	}
	c := n.GetAConst()
	if c == nil {
		return 0, false
	}
	v, ok := c.Val.(*pg_query.A_Const_Ival)
	if !ok {
		return 0, false
	}
	return v.Ival.GetIval(), true
}

package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// typeNames maps PostgreSQL's internal type names, as the grammar gives them, to kinds.
var typeNames = map[string]kind{
	"bool": kBool, "int2": kInt2, "int4": kInt4, "int8": kInt8, "float4": kFloat4, "float8": kFloat8, "numeric": kNumeric,
	"text": kText, "varchar": kVarchar, "bpchar": kChar, "bytea": kBytea, "date": kDate, "time": kTime, "timestamp": kStamp,
	"timestamptz": kStampTZ, "interval": kInterval, "uuid": kUUID, "json": kJSON, "jsonb": kJSONB,
	"name": kName, "oid": kOID, "char": kLetter, "regclass": kRegclass, "regtype": kRegtype, "regproc": kRegproc, "regnamespace": kRegspace, "regrole": kRegrole,
}

// foreignTypes are types that PostgreSQL has and we do not, to tell "not supported" from "does not exist".
var foreignTypes = map[string]bool{
	"timetz": true, "money": true, "inet": true, "cidr": true, "macaddr": true, "bit": true, "varbit": true, "xml": true, "point": true,
	"tsvector": true, "tsquery": true, "int4range": true,
	"int8range": true, "numrange": true, "tsrange": true, "tstzrange": true, "daterange": true, "xid": true, "pg_lsn": true,
	"box": true, "line": true, "circle": true, "polygon": true, "path": true, "lseg": true, "record": true, "unknown": true,
}

// namesOf are the strings of a list of String nodes.
func namesOf(nodes []*pg_query.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}

// systemName is the last part of a possibly pg_catalog-qualified name; ok is false when another schema is named.
func systemName(nodes []*pg_query.Node) (name string, ok bool) {
	parts := namesOf(nodes)
	if len(parts) == 0 {
		return "", false
	}
	last := parts[len(parts)-1]
	return last, len(parts) == 1 || len(parts) == 2 && (parts[0] == "pg_catalog" || parts[0] == "information_schema" && last == expandArray)
}

// typeOf reads a type as written in a cast; a domain is the type under it.
func (p *planner) typeOf(n *pg_query.TypeName) (tailrace.Type, error) {
	t, _, err := p.namedType(n)
	return t, err
}

// namedType reads a type as written in a cast. domain is set when it is one: t is the type under it then.
func (p *planner) namedType(n *pg_query.TypeName) (t tailrace.Type, domain *tailrace.NamedType, err error) {
	name, ok := systemName(n.GetNames())
	array := len(n.GetArrayBounds()) > 0
	if k := typeNames[strings.TrimPrefix(name, "_")]; ok && k != kUnknown && strings.HasPrefix(name, "_") {
		name, array = name[1:], true
	}
	k, known := typeNames[name]
	switch {
	case ok && known:
		t, err = p.typeMods(tailrace.TypeOf(k), n)
	case ok && foreignTypes[name]:
		return unknown, nil, p.refuse(n.GetLocation(), "type "+name)
	default:
		t, domain, err = p.userType(n)
	}
	if array && domain != nil {
		return unknown, nil, p.refuse(n.GetLocation(), "an array of a domain")
	}
	if array && err == nil {
		t = tailrace.ArrayOf(t)
	}
	return t, domain, err
}

// userType finds an enum or a domain.
func (p *planner) userType(n *pg_query.TypeName) (tailrace.Type, *tailrace.NamedType, error) {
	parts := namesOf(n.GetNames())
	schema, name := "", parts[len(parts)-1]
	if len(parts) == 2 {
		schema = parts[0]
	}
	named := (*tailrace.NamedType)(nil)
	if len(parts) <= 2 {
		named = p.resolver.Type(schema, name)
	}
	switch {
	case named == nil:
		return unknown, nil, p.fail(n.GetLocation(), codeNoType, "type \"%s\" does not exist", strings.Join(parts, "."))
	case len(n.GetTypmods()) > 0:
		return unknown, nil, p.fail(n.GetLocation(), codeSyntax, "type modifier is not allowed for type \"%s\"", name)
	case named.Domain != 0:
		return named.Type, named, nil
	}
	return named.Type, nil, nil
}

// typeMods gives t the modifiers written behind its name.
func (p *planner) typeMods(t tailrace.Type, n *pg_query.TypeName) (tailrace.Type, error) {
	var mods []int32
	for _, m := range n.GetTypmods() {
		c := m.GetAConst()
		if c == nil || c.GetIval() == nil {
			return t, p.fail(n.GetLocation(), codeSyntax, "type modifiers must be simple constants or identifiers")
		}
		mods = append(mods, c.GetIval().GetIval())
	}
	return p.modified(t, mods, n.GetLocation())
}

// modified gives t the modifiers written in parentheses behind it.
func (p *planner) modified(t tailrace.Type, mods []int32, loc int32) (tailrace.Type, error) {
	if len(mods) == 0 {
		return t, nil
	}
	switch t.Kind {
	case kVarchar, kChar:
		if len(mods) != 1 || mods[0] < 1 {
			return t, p.fail(loc, codeInvalid, "length for type %s must be at least 1", lengthName(t.Kind))
		}
		if mods[0] > 10485760 {
			return t, p.fail(loc, codeInvalid, "length for type %s cannot exceed 10485760", lengthName(t.Kind))
		}
		t.Mod = mods[0] + 4
	case kNumeric:
		scale := int32(0)
		if len(mods) == 2 {
			scale = mods[1]
		}
		if mods[0] < 1 || mods[0] > 1000 {
			return t, p.fail(loc, codeInvalid, "NUMERIC precision %d must be between 1 and 1000", mods[0])
		}
		if scale < -1000 || scale > 1000 {
			return t, p.fail(loc, codeInvalid, "NUMERIC scale %d must be between -1000 and 1000", scale)
		}
		t.Mod = (mods[0]<<16 | scale&0x7ff) + 4
	case kTime, kStamp, kStampTZ:
		t.Mod = min(mods[0], 6)
	case kInterval:
		t.Mod = mods[0]<<16 | 0xffff
		if len(mods) == 2 {
			t.Mod = mods[0]<<16 | mods[1]
		}
	default:
		return t, p.fail(loc, codeSyntax, "type modifier is not allowed for type \"%s\"", typeName(t))
	}
	return t, nil
}

func lengthName(k kind) string {
	if k == kChar {
		return "char"
	}
	return "varchar"
}

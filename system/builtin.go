package system

import (
	_ "embed"
	"strconv"
	"strings"

	"tailrace"
)

// builtin is a type of PostgreSQL's own.
type builtin struct {
	oid                                                    uint32
	name, shown                                            string // typname; format_type
	length                                                 int16
	byVal, preferred                                       bool
	kind, category, align, storage, delimiter              string
	element, array, base, collation                        uint32
	input, output, receive, send, subscript, modIn, modOut uint32
}

//go:embed types.txt
var types string

//go:embed procs.txt
var procs string

// builtins are PostgreSQL's types by OID, builtinList in the order of their OIDs. They are built when the program starts and only read.
var builtins, builtinList = parseTypes(types)

func parseTypes(text string) (byOID map[uint32]*builtin, list []*builtin) {
	byOID = map[uint32]*builtin{}
	for line := range strings.Lines(text) {
		left, shown, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		f := strings.Fields(left)
		if f[0] == "#" {
			continue
		}
		b := &builtin{
			oid: number(f[0]), name: f[1], shown: shown, byVal: f[3] == "true", kind: f[4], category: f[5], preferred: f[6] == "true", element: number(f[7]),
			array: number(f[8]), align: f[9], storage: f[10], base: number(f[11]), collation: number(f[12]), input: number(f[13]), output: number(f[14]),
			receive: number(f[15]), send: number(f[16]), subscript: number(f[17]), modIn: number(f[18]), modOut: number(f[19]), delimiter: f[20],
		}
		length, err := strconv.ParseInt(f[2], 10, 16)
		if err != nil {
			panic("types.txt: " + err.Error())
		}
		b.length = int16(length)
		byOID[b.oid] = b
		list = append(list, b)
	}
	return byOID, list
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		panic("types.txt, procs.txt: " + err.Error()) // a test reads all of both
	}
	return uint32(n)
}

// proc is a function of PostgreSQL's own.
type proc struct {
	oid, result uint32
	name        string
	args        []uint32
}

// procByOID are those functions of PostgreSQL's that its types refer to: psql and drivers join them.
var procByOID, procList = parseProcs(procs)

func parseProcs(text string) (byOID map[uint32]*proc, list []*proc) {
	byOID = map[uint32]*proc{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		p := &proc{oid: number(f[0]), name: f[1], result: number(f[2])}
		if len(f) > 3 {
			for a := range strings.SplitSeq(f[3], ",") {
				p.args = append(p.args, number(a))
			}
		}
		byOID[p.oid] = p
		list = append(list, p)
	}
	return byOID, list
}

// opclass is the way a kind is ordered in an index.
type opclass struct {
	oid, family, input uint32
	name, familyName   string
}

var opclasses = []opclass{
	{10000, 397, 2277, "array_ops", "array_ops"},
	{10003, 424, 16, "bool_ops", "bool_ops"},
	{10004, 426, 1042, "bpchar_ops", "bpchar_ops"},
	{10006, 428, 17, "bytea_ops", "bytea_ops"},
	{10007, 429, 18, "char_ops", "char_ops"},
	{3122, 434, 1082, "date_ops", "datetime_ops"},
	{10012, 1970, 700, "float4_ops", "float_ops"},
	{3123, 1970, 701, "float8_ops", "float_ops"},
	{1979, 1976, 21, "int2_ops", "integer_ops"},
	{1978, 1976, 23, "int4_ops", "integer_ops"},
	{3124, 1976, 20, "int8_ops", "integer_ops"},
	{10022, 1982, 1186, "interval_ops", "interval_ops"},
	{10028, 1994, 19, "name_ops", "text_ops"},
	{3125, 1988, 1700, "numeric_ops", "numeric_ops"},
	{1981, 1989, 26, "oid_ops", "oid_ops"},
	{3126, 1994, 25, "text_ops", "text_ops"},
	{10038, 1996, 1083, "time_ops", "time_ops"},
	{3127, 434, 1184, "timestamptz_ops", "datetime_ops"},
	{3128, 434, 1114, "timestamp_ops", "datetime_ops"},
	{10065, 2968, 2950, "uuid_ops", "uuid_ops"},
	{10069, 3522, 3500, "enum_ops", "enum_ops"},
	{10088, 4033, 3802, "jsonb_ops", "jsonb_ops"},
}

// opclassOf is the operator class of a type's order, 0 when it has none.
func opclassOf(t tailrace.Type) uint32 {
	oid := t.OID()
	switch t.Kind {
	case tailrace.KindArray:
		oid = 2277 // anyarray
	case tailrace.KindEnum:
		oid = 3500 // anyenum
	case tailrace.KindVarchar:
		oid = 25
	}
	for _, c := range opclasses {
		if c.input == oid {
			return c.oid
		}
	}
	return 0
}

func methodRows(_ *World, yield func(row)) {
	yield(row{"oid": heapOID, "amname": "heap", "amtype": "t", "amhandler": uint32(3)})
	yield(row{"oid": btreeOID, "amname": "btree", "amtype": "i", "amhandler": uint32(330)})
}

func opclassRows(w *World, yield func(row)) {
	for _, c := range opclasses {
		yield(row{"oid": c.oid, "opcmethod": btreeOID, "opcname": c.name, "opcnamespace": pgCatalogOID, "opcowner": w.owner(), "opcfamily": c.family, "opcintype": c.input, "opcdefault": true})
	}
}

func opfamilyRows(w *World, yield func(row)) {
	seen := map[uint32]bool{}
	for _, c := range opclasses {
		if !seen[c.family] {
			seen[c.family] = true
			yield(row{"oid": c.family, "opfmethod": btreeOID, "opfname": c.familyName, "opfnamespace": pgCatalogOID, "opfowner": w.owner()})
		}
	}
}

func collationRows(w *World, yield func(row)) {
	yield(row{"oid": defaultCollationOID, "collname": "default", "collnamespace": pgCatalogOID, "collowner": w.owner(), "collprovider": "d", "collisdeterministic": true, "collencoding": -1})
	for oid, name := range map[int]string{cCollationOID: "C", posixCollationOID: "POSIX"} {
		yield(row{
			"oid": oid, "collname": name, "collnamespace": pgCatalogOID, "collowner": w.owner(), "collprovider": "c", "collisdeterministic": true,
			"collencoding": -1, "collcollate": name, "collctype": name,
		})
	}
}

func languageRows(w *World, yield func(row)) {
	yield(row{"oid": 12, "lanname": "internal", "lanowner": w.owner(), "lanvalidator": 2246})
	yield(row{"oid": 14, "lanname": "sql", "lanowner": w.owner(), "lanpltrusted": true, "lanvalidator": 2248})
}

func procRows(w *World, yield func(row)) {
	for _, p := range procList {
		yield(row{
			"oid": p.oid, "proname": p.name, "pronamespace": pgCatalogOID, "proowner": w.owner(), "prolang": 12, "procost": 1.0, "prokind": "f", "proisstrict": true,
			"provolatile": "i", "proparallel": "s", "pronargs": len(p.args), "prorettype": p.result, "proargtypes": p.args, "prosrc": p.name,
		})
	}
}

func rangeRows(_ *World, yield func(row)) {
	for _, r := range [][4]uint32{{3904, 23, 4451, 1978}, {3906, 1700, 4532, 3125}, {3908, 1114, 4533, 3128}, {3910, 1184, 4534, 3127}, {3912, 1082, 4535, 3122}, {3926, 20, 4536, 3124}} {
		yield(row{"rngtypid": r[0], "rngsubtype": r[1], "rngmultitypid": r[2], "rngsubopc": r[3]})
	}
}

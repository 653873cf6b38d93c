package system

import (
	"tailrace"
	"tailrace/catalog"
)

// pageBytes is PostgreSQL's page, the unit of relpages.
const pageBytes = 8192

func classRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		yield(w.classRow(c))
	}
	for _, t := range w.keyedTables() {
		yield(row{
			"oid": uint32(firstIndexOID + t.ID), "relname": keyName(t), "relnamespace": w.namespaceOID(t.Schema), "relowner": w.owner(), "relam": btreeOID,
			"relfilenode": uint32(firstIndexOID + t.ID), "relpersistence": "p", "relkind": "i", "relnatts": len(t.Columns.Key), "relispopulated": true,
			"relreplident": "n", "reltuples": w.rowCount(t.ID),
		})
	}
}

func (w *World) classRow(c *class) row {
	r := row{
		"oid": c.oid, "relname": c.name, "relnamespace": w.namespaceOID(c.schema), "relowner": w.owner(), "relpersistence": "p", "relkind": c.kind,
		"relispopulated": true, "relreplident": "d",
	}
	natts := 0
	for _, col := range c.columns() {
		natts = max(natts, col.num)
	}
	r["relnatts"] = natts
	switch {
	case c.table != nil:
		r["relam"], r["relfilenode"] = heapOID, c.oid
		r["relhasindex"] = len(c.table.Columns.Key) > 0
		r["reltuples"], r["relpages"] = w.rowCount(c.table.ID), w.byteCount(c.table.ID)/pageBytes
		r["reltype"] = uint32(firstRowTypeOID + c.table.ID)
	case c.view != nil:
		r["relhasrules"], r["relreplident"] = true, "n"
		r["reltype"] = uint32(firstRowTypeOID + c.view.ID)
	case c.kind == "r":
		r["relam"], r["relfilenode"], r["relreplident"] = heapOID, c.oid, "n"
	default:
		r["relhasrules"], r["relreplident"] = true, "n"
	}
	return r
}

// rowCount is reltuples: -1 when nothing is known.
func (w *World) rowCount(id catalog.ID) float64 {
	if w.Rows == nil {
		return -1
	}
	return float64(w.Rows(id))
}

// byteCount is what a table takes in the store.
func (w *World) byteCount(id catalog.ID) int64 {
	if w.Bytes == nil {
		return 0
	}
	return w.Bytes(id)
}

func attributeRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		for _, col := range c.columns() {
			r := w.attributeRow(c.oid, &col)
			r["attnotnull"], r["atthasdef"] = col.notNull, col.def != ""
			yield(r)
		}
	}
	for _, t := range w.keyedTables() {
		for i, k := range t.Columns.Key {
			f := t.Columns.Fields[k]
			yield(w.attributeRow(uint32(firstIndexOID+t.ID), &column{num: i + 1, name: f.Name, typ: f.Type, domain: f.Domain}))
		}
	}
}

func (w *World) attributeRow(rel uint32, c *column) row {
	r := row{
		"attrelid": rel, "attname": c.name, "atttypid": c.typeOID(), "attstattarget": -1, "attlen": int16(-1), "attnum": c.num, "attcacheoff": -1,
		"atttypmod": c.typ.Mod, "attalign": "i", "attstorage": "p", "attislocal": true, "attcollation": collationOf(c.typ),
	}
	if c.typ.Kind == tailrace.KindArray {
		r["attndims"] = 1
	}
	if b := builtins[c.typ.OID()]; b != nil {
		r["attlen"], r["attbyval"], r["attalign"], r["attstorage"] = b.length, b.byVal, b.align, b.storage
	} else if c.typ.Kind == tailrace.KindEnum {
		r["attlen"], r["attbyval"] = 4, true
	}
	if c.domain != 0 {
		r["atttypmod"] = -1
	}
	return r
}

// collationOf is the collation of a column: PostgreSQL's default for text, C for names.
func collationOf(t tailrace.Type) uint32 {
	if b := builtins[t.OID()]; b != nil {
		return b.collation
	}
	return 0
}

// defaultOID is the OID of a column's default. Nothing looks it up.
func defaultOID(t *catalog.Table, num int) uint32 {
	return 1<<31 | uint32(t.ID)<<11 | uint32(num)&(1<<11-1)
}

func defaultRows(w *World, yield func(row)) {
	for _, t := range w.tables() {
		for _, f := range t.Columns.Fields {
			if f.Default != "" {
				yield(row{"oid": defaultOID(t, int(f.ID)), "adrelid": objectOID(t.ID), "adnum": int(f.ID), "adbin": f.Default})
			}
		}
	}
}

func indexRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		var collations, classes []uint32
		for _, k := range t.Columns.Key {
			typ := t.Columns.Fields[k].Type
			collations, classes = append(collations, collationOf(typ)), append(classes, opclassOf(typ))
		}
		yield(row{
			"indexrelid": uint32(firstIndexOID + t.ID), "indrelid": objectOID(t.ID), "indnatts": len(t.Columns.Key), "indnkeyatts": len(t.Columns.Key),
			"indisunique": true, "indisprimary": true, "indimmediate": true, "indisvalid": true, "indisready": true, "indislive": true,
			"indkey": keyNumbers(t), "indcollation": collations, "indclass": classes, "indoption": make([]int, len(t.Columns.Key)),
		})
	}
}

func constraintRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		yield(row{
			"oid": uint32(firstKeyOID + t.ID), "conname": keyName(t), "connamespace": w.namespaceOID(t.Schema), "contype": "p", "convalidated": true,
			"conrelid": objectOID(t.ID), "conindid": uint32(firstIndexOID + t.ID), "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ",
			"conislocal": true, "connoinherit": true, "conkey": keyNumbers(t),
		})
	}
	for _, t := range sorted(w.Catalog.Types) {
		for i, c := range t.Checks {
			yield(row{
				"oid": checkOID(t, i), "conname": c.Name, "connamespace": w.namespaceOID(t.Schema), "contype": "c", "convalidated": true,
				"contypid": objectOID(t.ID), "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": true, "conbin": "(" + checkExpr(c) + ")",
			})
		}
	}
}

// checkOID is the OID of a domain's check i.
func checkOID(t *catalog.UserType, i int) uint32 { return 3<<30 | uint32(t.ID)<<8 | uint32(i)&255 }

func ruleRows(w *World, yield func(row)) {
	for _, v := range sorted(w.Catalog.Views) {
		yield(row{
			"oid": uint32(firstRuleOID + v.ID), "rulename": "_RETURN", "ev_class": objectOID(v.ID), "ev_type": "1", "ev_enabled": "O", "is_instead": true,
			"ev_qual": "<>", "ev_action": v.Query,
		})
	}
}

// dependRows: an index hangs on its constraint, the constraint and a default on their columns, a view's rule on what the view reads.
func dependRows(w *World, yield func(row)) {
	classID, constraintID, ruleID := catalogOIDs["pg_class"], catalogOIDs["pg_constraint"], catalogOIDs["pg_rewrite"]
	for _, t := range w.keyedTables() {
		yield(row{"classid": classID, "objid": uint32(firstIndexOID + t.ID), "refclassid": constraintID, "refobjid": uint32(firstKeyOID + t.ID), "deptype": "i"})
		for _, n := range keyNumbers(t) {
			yield(row{"classid": constraintID, "objid": uint32(firstKeyOID + t.ID), "refclassid": classID, "refobjid": objectOID(t.ID), "refobjsubid": n, "deptype": "a"})
		}
	}
	for _, t := range w.tables() {
		for _, f := range t.Columns.Fields {
			if f.Default != "" {
				yield(row{"classid": catalogOIDs["pg_attrdef"], "objid": defaultOID(t, int(f.ID)), "refclassid": classID, "refobjid": objectOID(t.ID), "refobjsubid": int(f.ID), "deptype": "a"})
			}
		}
	}
	for _, v := range sorted(w.Catalog.Views) {
		yield(row{"classid": ruleID, "objid": uint32(firstRuleOID + v.ID), "refclassid": classID, "refobjid": objectOID(v.ID), "deptype": "i"})
		for _, id := range v.Uses {
			of := classID
			if w.Catalog.Types[id] != nil {
				of = catalogOIDs["pg_type"]
			}
			yield(row{"classid": ruleID, "objid": uint32(firstRuleOID + v.ID), "refclassid": of, "refobjid": objectOID(id), "deptype": "n"})
		}
	}
}

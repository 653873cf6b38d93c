package system

import (
	"tailrace"
	"tailrace/catalog"
)

func typeRows(w *World, yield func(row)) {
	for _, b := range builtinList {
		yield(row{
			"oid": b.oid, "typname": b.name, "typnamespace": pgCatalogOID, "typowner": w.owner(), "typlen": b.length, "typbyval": b.byVal, "typtype": b.kind,
			"typcategory": b.category, "typispreferred": b.preferred, "typisdefined": true, "typdelim": b.delimiter, "typsubscript": b.subscript,
			"typelem": b.element, "typarray": b.array, "typinput": b.input, "typoutput": b.output, "typreceive": b.receive, "typsend": b.send,
			"typmodin": b.modIn, "typmodout": b.modOut, "typalign": b.align, "typstorage": b.storage, "typbasetype": b.base, "typtypmod": -1,
			"typcollation": b.collation,
		})
	}
	for _, t := range sorted(w.Catalog.Types) {
		r := w.userType(t.Schema, t.Name, objectOID(t.ID), arrayOID(t))
		if t.Base == nil {
			r["typtype"], r["typcategory"], r["typlen"], r["typbyval"] = "e", "E", 4, true
			r["typinput"], r["typoutput"], r["typreceive"], r["typsend"] = enumIn, enumOut, enumReceive, enumSend
		} else {
			w.domainType(t, r)
		}
		yield(r)
		yield(w.arrayType(t.Schema, t.Name, objectOID(t.ID), arrayOID(t)))
	}
	for _, c := range w.userClasses() {
		id := userObjectID(c.oid)
		rowType, array := uint32(firstRowTypeOID+id), uint32(firstRowArrayOID+id)
		r := w.userType(c.schema, c.name, rowType, array)
		r["typtype"], r["typcategory"], r["typlen"], r["typrelid"], r["typalign"], r["typstorage"] = "c", "C", -1, c.oid, "d", "x"
		r["typinput"], r["typoutput"], r["typreceive"], r["typsend"] = recordIn, recordOut, recordReceive, recordSend
		yield(r)
		yield(w.arrayType(c.schema, c.name, rowType, array))
	}
}

// PostgreSQL's functions that read and print enums, domains, rows and arrays.
const (
	enumIn, enumOut, enumReceive, enumSend         = 3506, 3507, 3532, 3533
	domainIn, domainReceive                        = 2597, 2598
	recordIn, recordOut, recordReceive, recordSend = 2290, 2291, 2402, 2403
	arrayIn, arrayOut, arrayReceive, arraySend     = 750, 751, 2400, 2401
	arraySubscript                                 = 6179
)

// userType is the part of a row that types made here share.
func (w *World) userType(schema, name string, oid, array uint32) row {
	return row{
		"oid": oid, "typname": name, "typnamespace": w.namespaceOID(schema), "typowner": w.owner(), "typisdefined": true, "typdelim": ",", "typarray": array,
		"typalign": "i", "typstorage": "p", "typtypmod": -1,
	}
}

func (w *World) arrayType(schema, name string, element, array uint32) row {
	r := w.userType(schema, arrayName(name), array, 0)
	r["typtype"], r["typcategory"], r["typlen"], r["typelem"], r["typstorage"], r["typsubscript"] = "b", "A", -1, element, "x", arraySubscript
	r["typinput"], r["typoutput"], r["typreceive"], r["typsend"] = arrayIn, arrayOut, arrayReceive, arraySend
	return r
}

// domainType fills in what a domain has of the type under it.
func (w *World) domainType(t *catalog.UserType, r row) {
	r["typtype"], r["typbasetype"], r["typtypmod"], r["typnotnull"] = "d", t.Base.OID(), t.Base.Mod, t.NotNull
	r["typcategory"], r["typinput"], r["typreceive"], r["typcollation"] = "U", domainIn, domainReceive, collationOf(*t.Base)
	r["typlen"] = t.Base.Size()
	if b := builtins[t.Base.OID()]; b != nil {
		r["typcategory"], r["typlen"], r["typbyval"], r["typalign"], r["typstorage"] = b.category, b.length, b.byVal, b.align, b.storage
		r["typoutput"], r["typsend"] = b.output, b.send
	}
	if t.Default != "" {
		r["typdefault"], r["typdefaultbin"] = t.Default, t.Default
	}
}

// arrayName is the name of a type's array type, as PostgreSQL makes it.
func arrayName(name string) string {
	name = "_" + name
	if len(name) > maxName {
		name = name[:maxName]
	}
	return name
}

// arrayOID is the array type of an enum or a domain.
func arrayOID(t *catalog.UserType) uint32 {
	if t.Base == nil {
		return tailrace.ArrayOf(t.Named().Type).OID()
	}
	return uint32(firstDomainArrOID + t.ID)
}

func enumRows(w *World, yield func(row)) {
	for _, t := range sorted(w.Catalog.Types) {
		for i, l := range t.Labels {
			yield(row{"oid": checkOID(t, i), "enumtypid": objectOID(t.ID), "enumsortorder": float64(i + 1), "enumlabel": l})
		}
	}
}

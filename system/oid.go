package system

import (
	"tailrace"
	"tailrace/catalog"
)

// PostgreSQL's OIDs of objects that are always there.
const (
	databaseOID         = 5
	ownerOID            = 10 // the user that everything belongs to; PostgreSQL's bootstrap superuser
	pgCatalogOID        = 11
	publicOID           = 2200
	pgToastOID          = 99
	informationOID      = 13000
	mzInternalOID       = 13001
	defaultSpaceOID     = 1663
	heapOID             = 2 // the access method of tables
	btreeOID            = 403
	defaultCollationOID = 100
	cCollationOID       = 950
	posixCollationOID   = 951
	firstViewOID        = 12000 // of the relations that are views in PostgreSQL, where they have no OIDs of their own either
)

// Ranges of OIDs for what an object of the catalog brings along; the object's ID is added. IDs are far below 1<<27.
const (
	firstRowTypeOID   = 1 << 27 // the row type of a table or view
	firstRowArrayOID  = 1<<28 + 1<<27
	firstRuleOID      = 1 << 28       // the rule of a view
	firstIndexOID     = 1 << 29       // a table's primary key: the index
	firstKeyOID       = 1<<29 + 1<<28 // and the constraint
	firstDomainArrOID = 1<<30 + 1<<29
	firstNamespaceOID = 1<<30 + 1<<28 // a schema that CREATE SCHEMA did not make, by the first table in it
)

// catalogOIDs are the relations that are tables in PostgreSQL.
var catalogOIDs = map[string]uint32{
	"pg_aggregate": 2600, "pg_am": 2601, "pg_amop": 2602, "pg_amproc": 2603, "pg_attrdef": 2604, "pg_attribute": 1249, "pg_auth_members": 1261,
	"pg_cast": 2605, "pg_class": 1259, "pg_collation": 3456, "pg_constraint": 2606, "pg_conversion": 2607, "pg_database": 1262,
	"pg_db_role_setting": 2964, "pg_default_acl": 826, "pg_depend": 2608, "pg_description": 2609, "pg_enum": 3501, "pg_event_trigger": 3466,
	"pg_extension": 3079, "pg_foreign_data_wrapper": 2328, "pg_foreign_server": 1417, "pg_foreign_table": 3118, "pg_index": 2610,
	"pg_inherits": 2611, "pg_language": 2612, "pg_largeobject_metadata": 2995, "pg_namespace": 2615, "pg_opclass": 2616, "pg_operator": 2617,
	"pg_opfamily": 2753, "pg_parameter_acl": 6243, "pg_partitioned_table": 3350, "pg_policy": 3256, "pg_proc": 1255, "pg_publication": 6104,
	"pg_publication_namespace": 6237, "pg_publication_rel": 6106, "pg_range": 3541, "pg_rewrite": 2618, "pg_seclabel": 3596,
	"pg_sequence": 2224, "pg_shdepend": 1214, "pg_shdescription": 2396, "pg_statistic_ext": 3381,
	"pg_subscription": 6100, "pg_tablespace": 1213, "pg_transform": 3576, "pg_trigger": 2620, "pg_ts_config": 3602, "pg_ts_dict": 3600,
	"pg_ts_parser": 3601, "pg_ts_template": 3764, "pg_type": 1247, "pg_user_mapping": 1418,
}

func objectOID(id catalog.ID) uint32 { return tailrace.UserOID(id) }

// objectID is the ID that an OID of range first has, 0 when it is of another.
func objectID(first, oid uint32) catalog.ID {
	if oid < first || oid-first >= 1<<27 {
		return 0
	}
	return catalog.ID(oid - first)
}

// userObjectID is the ID of the table, view, type or other object with an OID, 0 for what is not the catalog's.
func userObjectID(oid uint32) catalog.ID { return objectID(tailrace.UserOID(0), oid) }

-- Questions that libraries ask about a database. One statement ends at an empty line. Answers are the same here and in PostgreSQL.
-- Django: get_table_list
SELECT c.relname, CASE WHEN c.relispartition THEN 'p' WHEN c.relkind IN ('m', 'v') THEN 'v' ELSE 't' END, obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('f', 'm', 'p', 'r', 'v') AND n.nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema', 'mz_internal') AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1

-- Django: get_table_description
SELECT a.attname AS column_name, NOT (a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)) AS is_nullable, pg_get_expr(ad.adbin, ad.adrelid) AS column_default,
    CASE WHEN collname = 'default' THEN NULL ELSE collname END AS collation, a.attidentity != '' AS is_autofield, col_description(a.attrelid, a.attnum) AS column_comment
FROM pg_attribute a LEFT JOIN pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum LEFT JOIN pg_collation co ON a.attcollation = co.oid
JOIN pg_type t ON a.atttypid = t.oid JOIN pg_class c ON a.attrelid = c.oid JOIN pg_namespace n ON c.relnamespace = n.oid
WHERE c.relkind IN ('f', 'm', 'p', 'r', 'v') AND c.relname = 'stock' AND a.attnum > 0 AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY a.attnum

-- Django: get_constraints
SELECT c.conname, array(SELECT attname FROM unnest(c.conkey) WITH ORDINALITY cols(colid, arridx) JOIN pg_attribute AS ca ON cols.colid = ca.attnum WHERE ca.attrelid = c.conrelid ORDER BY cols.arridx),
    c.contype, (SELECT fkc.relname || '.' || fka.attname FROM pg_attribute AS fka JOIN pg_class AS fkc ON fka.attrelid = fkc.oid WHERE fka.attrelid = c.confrelid AND fka.attnum = c.confkey[1]),
    cl.reloptions
FROM pg_constraint AS c JOIN pg_class AS cl ON c.conrelid = cl.oid WHERE cl.relname = 'moves' AND pg_catalog.pg_table_is_visible(cl.oid)

-- Django: get_constraints, indexes
SELECT indexname, array_agg(attname ORDER BY arridx), indisunique, indisprimary, array_agg(ordering ORDER BY arridx), amname, exprdef, s2.attoptions
FROM (SELECT c2.relname as indexname, idx.*, attr.attname, am.amname,
        CASE WHEN idx.indexprs IS NOT NULL THEN pg_get_indexdef(idx.indexrelid) END AS exprdef,
        CASE am.amname WHEN 'btree' THEN CASE (option & 1) WHEN 1 THEN 'DESC' ELSE 'ASC' END END as ordering, c2.reloptions as attoptions
    FROM (SELECT * FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY koi(key, option, arridx)) idx
    LEFT JOIN pg_class c ON idx.indrelid = c.oid LEFT JOIN pg_class c2 ON idx.indexrelid = c2.oid LEFT JOIN pg_am am ON c2.relam = am.oid
    LEFT JOIN pg_attribute attr ON attr.attrelid = c.oid AND attr.attnum = idx.key
    WHERE c.relname = 'moves' AND pg_catalog.pg_table_is_visible(c.oid)) s2
GROUP BY indexname, indisunique, indisprimary, amname, exprdef, attoptions

-- Prisma: tables
SELECT tbl.relname AS table_name, namespace.nspname as namespace, (tbl.relhassubclass and tbl.relkind = 'p') as is_partition, (tbl.relhassubclass and tbl.relkind = 'r') as has_subclass, tbl.relrowsecurity as has_row_level_security, reloptions, obj_description(tbl.oid, 'pg_class') as description
FROM pg_class AS tbl INNER JOIN pg_namespace AS namespace ON namespace.oid = tbl.relnamespace
WHERE (tbl.relkind = 'r' AND tbl.relispartition = 'f') AND namespace.nspname = ANY (ARRAY['public', 'depot']) ORDER BY namespace, table_name

-- Prisma: columns
SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) as formatted_type, info.numeric_precision, info.numeric_scale, info.numeric_precision_radix,
    info.datetime_precision, info.data_type, info.udt_schema as type_schema_name, info.udt_name as full_data_type, pg_get_expr(attdef.adbin, attdef.adrelid) AS column_default, info.is_nullable, info.is_identity, info.character_maximum_length, col_description(att.attrelid, ordinal_position) AS description
FROM information_schema.columns info JOIN pg_attribute att on att.attname = info.column_name
JOIN (SELECT pg_class.oid, relname, pg_namespace.nspname as namespace FROM pg_class JOIN pg_namespace on pg_namespace.oid = pg_class.relnamespace AND pg_namespace.nspname = ANY (ARRAY['public', 'depot'])) as oid
    on oid.oid = att.attrelid AND relname = info.table_name AND namespace = info.table_schema
LEFT OUTER JOIN pg_attrdef attdef ON attdef.adrelid = att.attrelid AND attdef.adnum = att.attnum AND table_schema = namespace
WHERE table_schema = ANY (ARRAY['public', 'depot']) ORDER BY namespace, table_name, ordinal_position

-- Prisma: enums
SELECT t.typname as name, e.enumlabel as value, n.nspname as namespace, obj_description(t.oid, 'pg_type') as description
FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = ANY (ARRAY['public']) ORDER BY e.enumsortorder

-- Prisma: indexes
WITH rawindex AS (SELECT indrelid, indexrelid, indisunique, indisprimary, unnest(indkey) AS indkeyid, generate_subscripts(indkey, 1) AS indkeyidx, unnest(indclass) AS indclass, unnest(indoption) AS indoption
    FROM pg_index WHERE indpred IS NULL AND NOT indisexclusion)
SELECT schemainfo.nspname AS namespace, indexinfo.relname AS index_name, tableinfo.relname AS table_name, columninfo.attname AS column_name, rawindex.indisunique AS is_unique, rawindex.indisprimary AS is_primary_key,
    rawindex.indkeyidx AS column_index, opclass.opcname AS opclass, opclass.opcdefault AS opcdefault, indexaccess.amname AS index_algo,
    CASE rawindex.indoption & 1 WHEN 1 THEN 'DESC' ELSE 'ASC' END AS column_order
FROM rawindex INNER JOIN pg_class AS tableinfo ON tableinfo.oid = rawindex.indrelid INNER JOIN pg_class AS indexinfo ON indexinfo.oid = rawindex.indexrelid
INNER JOIN pg_namespace AS schemainfo ON schemainfo.oid = tableinfo.relnamespace
LEFT JOIN pg_attribute AS columninfo ON columninfo.attrelid = tableinfo.oid AND columninfo.attnum = rawindex.indkeyid
INNER JOIN pg_am AS indexaccess ON indexaccess.oid = indexinfo.relam LEFT JOIN pg_opclass AS opclass ON opclass.oid = rawindex.indclass
WHERE schemainfo.nspname = ANY (ARRAY['public', 'depot']) ORDER BY namespace, table_name, index_name, column_index

-- Rails: indexes
SELECT distinct i.relname, d.indisunique, d.indkey, pg_get_indexdef(d.indexrelid), pg_catalog.obj_description(i.oid, 'pg_class') AS comment, d.indisvalid
FROM pg_class t INNER JOIN pg_index d ON t.oid = d.indrelid INNER JOIN pg_class i ON d.indexrelid = i.oid LEFT JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE i.relkind IN ('i', 'I') AND t.relname = 'moves' AND n.nspname = ANY (current_schemas(false)) ORDER BY i.relname

-- Rails: primary keys
SELECT a.attname FROM (SELECT indrelid, indkey, generate_subscripts(indkey, 1) idx FROM pg_index WHERE indrelid = '"moves"'::regclass AND indisprimary) i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[i.idx] ORDER BY i.idx

-- Rails: column definitions
SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull, c.collname, col_description(a.attrelid, a.attnum) AS comment, attidentity AS identity, attgenerated as attgenerated
FROM pg_attribute a LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum LEFT JOIN pg_type t ON a.atttypid = t.oid LEFT JOIN pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation
WHERE a.attrelid = '"stock"'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- Rails: the type map
SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype FROM pg_type as t LEFT JOIN pg_range as r ON oid = rngtypid
WHERE t.typname IN ('int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'bool', 'numeric', 'interval', 'timestamptz', '_text', 'int4range', 'jsonb') ORDER BY 1

-- Npgsql: the type map
SELECT ns.nspname, typ_and_elem_type.typname, typ_and_elem_type.typtype, CASE WHEN elemproc.proname = 'array_recv' THEN 1 ELSE 0 END
FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.typelem, typ.typreceive FROM pg_type AS typ WHERE typ.typname IN ('int4', '_int4', 'text', 'color', '_color', 'positive')) AS typ_and_elem_type
JOIN pg_proc AS elemproc ON elemproc.oid = typ_and_elem_type.typreceive JOIN pg_namespace AS ns ON ns.oid = typ_and_elem_type.typnamespace ORDER BY 1, 2

-- names and OIDs
SELECT 'stock'::regclass, 'public.moves'::regclass::text, 'depot.shelf'::regclass, 'stock_pkey'::regclass, 1259::regclass, 'pg_type'::regclass::oid, 0::regclass, to_regclass('nope'), to_regclass('depot.nope'), 'int'::regtype, 'color[]'::regtype, 'positive'::regtype, to_regtype('nope'), 'timestamp(3) with time zone'::regtype, 'array_in'::regproc, 'public'::regnamespace, to_regnamespace('nope')

SELECT relname FROM pg_class WHERE oid = 'stock'::regclass AND oid = 'stock'::regclass::oid AND relnamespace = 'public'::regnamespace AND relkind = 'r' AND relkind IN ('r', 'v') AND relname = 'stock'::name AND relname OPERATOR(pg_catalog.~) '^(stock)$' COLLATE pg_catalog.default

SELECT 'nope'::regclass

SELECT 'nope.t'::regclass

SELECT 'nope'::regtype

SELECT 'nope'::regnamespace

SELECT -1::oid, (-1)::oid, 4294967295::oid::int8, 5::oid = 5, 5::oid < 7::int8, 'x'::name || 'y', 'abc'::"char", ''::"char" = '', '5'::oid

SELECT 4294967296::oid

SELECT format_type(23, NULL), format_type(1043, 44), format_type(1700, 786438), format_type(1009, NULL), format_type(0, NULL), format_type(NULL, 1), format_type(4000000, NULL), format_type(3904, -1), format_type(1184, 3), format_type(1560, 4), format_type('color'::regtype, NULL)

SELECT pg_size_pretty(n) FROM unnest(ARRAY[0, 1, 10239, 10240, 10241, 20479, 1048576, 20971519, 20971520, 123456789012, -10240, -99999999]::bigint[]) n

SELECT current_schema, current_schema(), current_schemas(false), current_schemas(true), current_user, session_user, pg_typeof(current_user), pg_typeof(1), pg_typeof('x'), pg_typeof(ARRAY['stock'::regclass]), pg_encoding_to_char(6), pg_is_in_recovery(), pg_my_temp_schema()

SELECT has_table_privilege('stock', 'SELECT'), has_schema_privilege('public', 'USAGE'), has_database_privilege(current_database(), 'CONNECT'), has_column_privilege('stock', 'n', 'UPDATE'), pg_has_role('tester', 'USAGE')

SELECT table_schema, table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_schema IN ('public', 'depot') AND table_type = 'BASE TABLE' ORDER BY 1, 2

SELECT * FROM information_schema.key_column_usage WHERE table_schema IN ('public', 'depot') ORDER BY table_schema, table_name, ordinal_position

SELECT constraint_name, table_name, constraint_type FROM information_schema.table_constraints WHERE constraint_type = 'PRIMARY KEY' AND table_schema = 'public' ORDER BY 1

SELECT domain_schema, domain_name, data_type, numeric_precision, domain_default, udt_name FROM information_schema.domains WHERE domain_schema = 'public'

SELECT column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, domain_name, dtd_identifier, is_updatable FROM information_schema.columns WHERE table_schema = 'public' AND table_name IN ('stock', 'paint', 'moves') ORDER BY table_name, ordinal_position

SELECT schemaname, tablename, indexname, indexdef FROM pg_indexes WHERE schemaname IN ('public', 'depot') ORDER BY 1, 2, 3

SELECT conname, contype, conkey, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true), conrelid::regclass, contypid::regtype FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1

SELECT (information_schema._pg_expandarray(indkey)).n, (information_schema._pg_expandarray(indkey)).x FROM pg_index WHERE indrelid = 'moves'::regclass

SELECT indkey, indkey[0], indkey[1], 1 = ANY (indkey), array_length(indkey, 1), array_to_string(indkey, ','), indkey::int2[], indkey::text FROM pg_index WHERE indrelid = 'moves'::regclass

SELECT attname, attnum, atttypid::regtype, attlen, attbyval, attalign, attstorage, attnotnull, atthasdef, atttypmod, attndims FROM pg_attribute WHERE attrelid IN ('stock'::regclass, 'paint'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum

SELECT typname, typtype, typcategory, typlen, typnotnull, typbasetype::regtype, typelem::regtype, typarray::regtype, typrelid::regclass, typinput, typoutput FROM pg_type WHERE typnamespace = 'public'::regnamespace ORDER BY typname

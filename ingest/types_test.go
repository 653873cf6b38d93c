package ingest_test

import (
	"strings"
	"testing"

	"tailrace"
)

// typeTables are created, filled with the same values before and after the copy begins, and must be equal either way.
var typeTables = map[string][2]string{
	"n": {
		"CREATE TABLE n(id int primary key, a numeric, b numeric(12,2), c float8, d real)",
		`(1, 'NaN', 'NaN', 'NaN', 'NaN'), (2, 'Infinity', NULL, 'Infinity', '-Infinity'), (3, '-0.00', 1.005, '-0', 1e-45),
		 (4, 1e-30, -99.999, 5e-324, 3.4028235e38), (5, '-Infinity', 0, 1.7976931348623157e308, 0.1), (6, 12345678901234567890.12345678901234567890,
		12.3, 0.1, 16777217)`,
	},
	"w": {
		"CREATE TABLE w(id int primary key, v numeric, u numeric(78,0))",
		"(4, (repeat('9', 131072) || '.' || repeat('9', 16383))::numeric, NULL), (5, -('1e-16383'::numeric), NULL), (6, 1e131071, NULL), (1, 0.1000, 0), (2, 1e-30, 1), (3, 115792089237316195423570985008687907853269984665640564039457584007913129639935, " +
			"115792089237316195423570985008687907853269984665640564039457584007913129639935)",
	},
	"i": {
		"CREATE TABLE i(id int primary key, t time, tt timetz, iv interval, m money, b1 bit(3), bv bit varying, t3 time(3))",
		`(1, '24:00:00', '24:00:00+02', '1 year 2 mons -3 days 04:05:06.789', '-$92233720368547758.08', B'101', B'', '01:02:03.4567'),
		 (2, '00:00', '00:00:00.000001-15:59', '-178000000 years', 0.01, B'000', B'1', NULL), (3, NULL, NULL,
		'1 mon -1 day 00:00:00.000001', NULL, NULL, NULL, NULL)`,
	},
	"d": {
		"CREATE TABLE d(id int primary key, d date, ts timestamp, tz timestamptz, ts0 timestamp(0))",
		`(1, 'infinity', '-infinity', 'infinity', '2020-02-29 23:59:59.5'), (2, '4713-01-01 BC', '4713-01-01 00:00:00 BC', '294276-12-31 23:59:59.999999+00', NULL),
		 (3, '5874897-12-31', '294276-12-31 23:59:59.999999', '0001-01-01 BC', '1999-12-31'), (4, '2024-01-02',
		'2024-01-02 03:04:05.000006', '2024-07-02 03:04:05+05:30', '1970-01-01')`,
	},
	"a": {
		`CREATE DOMAIN ints AS int[] CHECK (cardinality(VALUE) < 9); CREATE TYPE hue AS ENUM ('red', 'NULL', 'a,b');
		 CREATE TABLE a(id int primary key, bo bool[], s2 smallint[], i4 int[], i8 bigint[], f4 real[], f8 float8[], n numeric[], n2 numeric(6,2)[], t text[], vc varchar(5)[],
		  ch char(3)[], by bytea[], d date[], ti time[], ts timestamp[], tz timestamptz(0)[], iv interval[], u uuid[], j json[], jb jsonb[], o oid[], nm name[], dom ints, hues hue[],
		  rs int4range[], ip inet[], rc regclass[])`,
		`(1, '{t,NULL,f}', '{-32768,32767}', '[2:3]={1,NULL}', '{{-9223372036854775808},{9223372036854775807}}', '{NaN,Infinity,-0,1e-45}', '{NaN,-Infinity,5e-324,0.1}',
		  '{NaN,Infinity,0.1000,-1e-30}', '{1.005,NULL,-0.00}', '{"NULL",NULL,"","a b","q\"x","b\\s","{}",", ","é
x"}', '{abcde," "}', '{ab,"",abc}', '{"\\x00ff",NULL,"\\x"}',
		  '{infinity,"4713-01-01 BC",2024-02-29}', '{24:00:00,00:00:00.000001}', '{-infinity,"294276-12-31 23:59:59.999999"}', '{"2024-07-02 03:04:05.6+05:30"}',
		  '{"1 year 2 mons -3 days 04:05:06.789"}', '{123e4567-e89b-12d3-a456-426614174000}', '{"{\"a\" : 1}","[ 1 ]"}', '{"{\"b\": 1.00, \"a\": \"x,y\"}",NULL}',
		  '{0,4294967295}', '{"",nm}', '[0:1]={5,6}', '{red,"NULL",NULL,"a,b"}', '{"[1,5)"}', '{10.0.0.1/24}', '{pg_class}'),
		 (2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'),
		 (3, NULL, NULL, '{{{1,2},{3,4}},{{5,6},{7,NULL}}}', NULL, NULL, NULL, '{{1},{2}}', NULL, '{{a,b},{c,NULL}}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
		  NULL, NULL, NULL, NULL, NULL), (4, '{NULL}', NULL, '{{{{{{1}}}}}}', NULL, NULL, NULL, NULL, NULL, '{NULL}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
		  NULL, NULL, NULL, NULL, NULL)`,
	},
	"ak": {
		"CREATE TABLE ak(id int, k int[], t text[], v text, primary key (id, k, t))",
		`(1, '{1}', '{a}', 'x'), (2, '[0:0]={1}', '{a}', 'y'), (3, '{1,NULL}', '{NULL}', 'z'), (4, '{}', '{}', 'e'), (5, '{{1,2}}', '{"a","b"}', NULL)`,
	},
	"x": {
		`CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, "fine"'); CREATE DOMAIN posint AS int CHECK (VALUE > 0); CREATE DOMAIN code AS varchar(5);
			CREATE TYPE pair AS (a int, b text);
		 CREATE TABLE x(id int primary key, e mood, p posint, k code, ar int[], ta text[], r int4range, mr int4multirange,
		c pair, by bytea, u uuid, ip inet, nt cidr, mac macaddr,
		  xm xml, j json, jb jsonb, bo bool, s2 smallint, b8 bigint, ch char(5), vc varchar(20), nm name, pt point, tsv tsvector, lsn pg_lsn, o oid, q "char")`,
		`(1, 'sad', 7, 'abc', '{1,NULL,3}', '{"NULL",NULL,"a b","q\"x",""}', '[1,5)', '{[1,2),[5,7)}', '(1,"x y")',
			'\x00ff5c', '123e4567-e89b-12d3-a456-426614174000', '10.0.0.1/24', '10.0.0.0/8',
		  '08:00:2b:01:02:03', '<a b="1">x</a>', '{"a" : 1, "a":2}', '{"b": 1.00, "a": 12345678901234567890123456789, "ü": "\t"}',
		true, -32768, -9223372036854775808, 'ab', 'tab	nl
end', 'nm', '(1.5,-2)', 'a b:3', '16/B374D848', 4294967295, 'z'),
		 (2, 'it''s, "fine"', 1, NULL, '[2:3]={8,9}', '{}', 'empty', '{}', NULL, '', NULL, '::1', NULL, NULL,
		NULL, '[]', 'null', false, 32767, 9223372036854775807, '', '', '', NULL, NULL, NULL, NULL, NULL),
		 (3, NULL, NULL, '\\N', '{{1,2},{3,4}}', '{a}', '(,)', NULL, '(,)', '\\x', NULL, NULL, NULL, NULL, NULL,
		'null', '"\\N"', NULL, NULL, NULL, NULL, E'\\N\b\f\v\r', NULL, NULL, NULL, NULL, NULL, NULL)`,
	},
}

func TestEveryTypeIsTheSameFromSnapshotAndStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// The role has defaults that change how nearly everything prints; the pinned settings must win.
	alter := `ALTER ROLE postgres IN DATABASE current_db SET TimeZone = 'Asia/Kolkata';
		ALTER ROLE postgres IN DATABASE current_db SET DateStyle = 'SQL, DMY'; ALTER ROLE postgres IN DATABASE current_db SET IntervalStyle = 'iso_8601';
		ALTER ROLE postgres IN DATABASE current_db SET bytea_output = 'escape'; ALTER ROLE postgres IN DATABASE current_db SET extra_float_digits = 0`
	w.exec(strings.ReplaceAll(alter, "current_db", w.db))
	var names []string
	for name, table := range typeTables {
		w.exec("SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; " + table[0] + "; INSERT INTO " + name + " VALUES " + table[1])
		names = append(names, name)
	}
	source := w.attach()
	w.live(source)
	w.same(names...)
	for _, f := range w.table("a").Columns.Fields {
		foreign := f.Name == "hues" || f.Name == "rs" || f.Name == "ip" || f.Name == "rc"
		if got := f.Type.Kind == tailrace.KindForeign; got != foreign || !foreign && f.Name != "id" && f.Type.Kind != tailrace.KindArray {
			t.Errorf("column %s is carried as %v (kind %d)", f.Name, f.Type, f.Type.Kind)
		}
	}
	for name, table := range typeTables {
		w.exec("SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; CREATE TEMP TABLE fresh (LIKE " + name + "); INSERT INTO fresh VALUES " + table[1] +
			"; UPDATE fresh SET id = id + 100; INSERT INTO " + name + " SELECT * FROM fresh")
	}
	w.caughtUp(source)
	w.same(names...)
	w.exec("ALTER TYPE mood ADD VALUE 'new'")
	w.exec("UPDATE x SET e = 'new' WHERE id = 1; DELETE FROM i WHERE id = 2; UPDATE d SET tz = now() WHERE id = 1; UPDATE n SET id = -id")
	w.exec("UPDATE a SET t = t || 'more'::text WHERE id = 1; UPDATE ak SET v = v || '!', k = k || '{{7,8}}' WHERE id = 5; UPDATE ak SET k = k || 9 WHERE id < 3; DELETE FROM ak WHERE id = 3; UPDATE a SET i4 = NULL WHERE id = 103")
	w.caughtUp(source)
	w.same(names...)
}

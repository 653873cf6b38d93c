DROP VIEW IF EXISTS counted, cheerful;
DROP TABLE IF EXISTS person, arr, doc;
DROP DOMAIN IF EXISTS positive, code;
DROP TYPE IF EXISTS mood, size;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE size AS ENUM ('small', 'large');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN code AS varchar(3) NOT NULL CONSTRAINT upper_only CHECK (VALUE ~ '^[A-Z]+$') CONSTRAINT not_xxx CHECK (VALUE <> 'XXX');
CREATE TABLE person (id int PRIMARY KEY, name text, feels mood, past mood[], fits size);
INSERT INTO person VALUES
 (1, 'ann', 'happy', '{sad,ok,happy}', 'small'),
 (2, 'bob', 'sad', '{}', 'large'),
 (3, 'cid', NULL, NULL, NULL),
 (4, 'dan', 'ok', '{ok,NULL}', 'small'),
 (5, 'eve', 'happy', '{happy}', 'large');
CREATE TABLE arr (id int PRIMARY KEY, i int[], t text[], n numeric[], d date[], f float8[], b bool[], v varchar(5)[], ts timestamptz[], l bigint[]);
INSERT INTO arr VALUES
 (1, '{1,2,3}', '{a,b,c}', '{1.0,2.50,NaN}', '{2020-01-01,2021-12-31}', '{1.5,-0,NaN}', '{t,f}', '{ab,cd}', '{2024-01-01 00:00:00+00}', '{1,2,9223372036854775807}'),
 (2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (4, '{NULL,5,NULL}', '{NULL,"a b","q\"t","",null,"NULL"}', '{NULL,1.00}', '{infinity,NULL}', '{NULL}', '{NULL}', '{NULL}', '{-infinity}', '{NULL,7}'),
 (5, '{{1,2},{3,4}}', '{{a,b},{c,d}}', '{{1,2}}', NULL, NULL, NULL, NULL, NULL, NULL),
 (6, '[0:2]={7,8,9}', '[-1:0]={x,y}', '{1.00,2.5,NaN}', NULL, NULL, NULL, NULL, NULL, '{-1}'),
 (7, '{1,2,3}', '{a,b,c,d}', '{3}', NULL, '{0}', NULL, NULL, NULL, '{5}');
CREATE TABLE doc (id int PRIMARY KEY, j jsonb, s json);
INSERT INTO doc VALUES
 (1, '{"a": 1, "b": {"c": [1, 2, {"d": "x"}]}, "tags": ["p", "q"]}', '{"a" : 1,  "b":{"c":[1, 2 ]}, "a":2}'),
 (2, '[1, "two", null, true, {"k": 1.50}]', '[1,"two",null, true]'),
 (3, '"text"', '"te\u00e9xt"'),
 (4, '12345678901234567890.1234567890123456789', '1e3'),
 (5, 'null', 'null'),
 (6, NULL, NULL),
 (7, '{}', '{}'),
 (8, '[]', '[]'),
 (9, 'true', 'false');
CREATE VIEW cheerful AS SELECT id, name AS who, feels, past FROM person WHERE feels > 'sad';
CREATE VIEW counted (mood, n) AS SELECT feels, count(*) FROM cheerful GROUP BY feels;

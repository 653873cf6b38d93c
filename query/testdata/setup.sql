DROP TABLE IF EXISTS emp, dept, kinds;
CREATE TABLE dept (id int PRIMARY KEY, name text, budget numeric(12,2));
INSERT INTO dept VALUES (1, 'sales', 1000.50), (2, 'it', 250000.00), (3, 'empty', NULL);
CREATE TABLE emp (id int PRIMARY KEY, name varchar(20), dept int, salary numeric, hired date, boss int, note char(5), score float8, ok bool);
INSERT INTO emp VALUES
 (1, 'ann', 1, 1200.50, '2020-01-15', NULL, 'a', 1.5, true),
 (2, 'bob', 1, 900, '2021-03-01', 1, 'bb', -0.0, false),
 (3, 'cid', 2, 1200.5, '2019-12-31', 1, 'ccc', 'NaN', NULL),
 (4, 'dan', 2, NULL, NULL, 3, NULL, NULL, true),
 (5, 'Eve', NULL, 3333.333, '2022-02-28', 3, 'a    ', 'Infinity', true),
 (6, 'émile', 2, 0.001, '2020-02-29', 2, '', 1e300, false);
CREATE TABLE kinds (b bool, s int2, i int4, l int8, f float4, d float8, n numeric, m numeric(20,5), t text, v varchar(10), c char(6), y bytea, da date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid, j json, jb jsonb);
INSERT INTO kinds VALUES
 (true, -32768, -2147483648, -9223372036854775808, '-Infinity', 'NaN', 'NaN', -123456789012345.12345, '', '', '', '', '-infinity', '00:00', '-infinity', '-infinity', '-178000000 years', '00000000-0000-0000-0000-000000000000', '{"a" : 1.0,  "a":2}', '{"a":1.00,"b":[1,null,"x"]}'),
 (false, 32767, 2147483647, 9223372036854775807, 'Infinity', '-0', '-Infinity', 999999999999999.99999, 'ünï', 'a b', 'x  ', '\x00ff', 'infinity', '24:00', 'infinity', 'infinity', '1 mon', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '[]', '[]'),
 (NULL, 0, 0, 0, '-0', 1e-310, 'Infinity', 0, E'tab\tnl\n', 'ß', '      ', '\x27', '4713-01-01 BC', '23:59:59.999999', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', '30 days', '00112233-4455-6677-8899-aabbccddeeff', 'null', 'null'),
 (true, 1, 1, 1, 3.4e38, 1.7976931348623157e308, 123456789012345678901234567890123456789012345.678901234567890, 1, '''', 'q', 'abcdef', 'abc', '5874897-12-31', '12:30', '4713-01-01 00:00:00 BC', '0001-01-01 00:00:00+00 BC', '1 year 2 mons 3 days 04:05:06.789', gen_random_uuid(), '"s"', '"s"'),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (false, 2, 2, 2, 0.1, 0.1, 1.10, 1.1, 'a', 'a', 'a', 'a', '2000-01-01', '01:02:03.4', '2024-03-31 02:30:00', '2024-03-31 02:30:00+01', '-1 days +02:00', '00112233-4455-6677-8899-aabbccddeef0', '{}', '{"z":true}'),
 (true, 3, 3, 3, 1, 1, 1.100, 2.2, 'A', 'B', 'a', 'b', '2024-02-29', '05:00', '1999-12-31 23:59:59.5', '2024-10-27 02:30:00+02', '720:00:00', '00112233-4455-6677-8899-aabbccddeef1', '1', '1.00');

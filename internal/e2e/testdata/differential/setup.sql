DROP TABLE IF EXISTS n, s, tm, g, w, a1, b1, tree;
CREATE TABLE n (id int PRIMARY KEY, s smallint, i int, l bigint, m numeric, p numeric(12,3), f real, d double precision);
INSERT INTO n VALUES
 (1, 1, 10, 100, 1.10, 1.5, 1.5, 2.25), (2, -2, -20, -200, -2.205, -2.25, -2.5, -0.1), (3, 0, 0, 0, 0, 0, 0, 0),
 (4, 32767, 2147483647, 9223372036854775807, 12345678901234567890.123456789, 999999999.999, 3e38, 1e300),
 (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (6, 7, 77, 777, 'NaN', 7.777, 'NaN', 'NaN'), (7, 3, 4, 5, 0.000001, 0.001, 0.1, 0.1);
CREATE TABLE s (id int PRIMARY KEY, t text, v varchar(12), c char(4), y bytea);
INSERT INTO s VALUES
 (1, 'alpha', 'Alpha', 'ab', '\x6162'), (2, 'ünïcode', 'ÜNÏ', 'é', '\x00ff'), (3, '', '', '', ''), (4, NULL, NULL, NULL, NULL),
 (5, 'a%b_c\d', 'a''b"c', 'x  ', '\x5c27'), (6, ' lead and trail ', ' x ', ' y', 'abc'), (7, 'Beta beta BETA', 'b', 'ABCD', 'beta'), (8, '日本語', '日本', '本', '\xe697a5');
CREATE TABLE tm (id int PRIMARY KEY, d date, t time, ts timestamp, tz timestamptz, iv interval);
INSERT INTO tm VALUES
 (1, '2024-02-29', '01:02:03.456', '2024-02-29 01:02:03.456', '2024-02-29 01:02:03.456+00', '1 mon 2 days 03:04:05'),
 (2, '2023-12-31', '23:59:59.999999', '2023-12-31 23:59:59.999999', '2023-12-31 23:59:59.999999+00', '-1 day 02:00'),
 (3, '0044-03-15 BC', '00:00', '0044-03-15 12:00 BC', '0044-03-15 12:00+00 BC', '10 years -3 mons'),
 (4, 'infinity', '24:00', 'infinity', '-infinity', '25:00'), (5, NULL, NULL, NULL, NULL, NULL),
 (6, '2024-03-31', '12:00', '2024-03-31 02:30', '2024-10-27 00:30+00', '00:00:00.000001'), (7, '1999-01-04', '06:30', '1999-01-04 06:30', '1999-01-04 06:30+00', '-1 year -2 mons');
CREATE TABLE g (id int PRIMARY KEY, a text, b int, c numeric, d double precision, ok boolean);
INSERT INTO g VALUES
 (1, 'x', 1, 1.5, 1, true), (2, 'x', 1, 2.50, 2, false), (3, 'x', 2, 3, 3.5, true), (4, 'y', 1, 4.25, -1, NULL), (5, 'y', 2, NULL, 0.5, true),
 (6, NULL, 2, 0.5, 8, false), (7, NULL, NULL, 7, NULL, true), (8, 'z', 3, 1.500, 1, false);
CREATE TABLE w (id int PRIMARY KEY, grp text, v int, n numeric, d date);
INSERT INTO w VALUES
 (1, 'a', 10, 1.1, '2024-01-01'), (2, 'a', 20, 2.2, '2024-01-03'), (3, 'a', 20, 3.3, '2024-01-04'), (4, 'b', NULL, 4.4, '2024-01-10'),
 (5, 'b', 5, NULL, NULL), (6, 'b', 7, 0.1, '2024-02-01'), (7, 'c', 1, 9.9, '2024-02-02'), (8, 'c', 1, 10, '2024-02-03');
CREATE TABLE a1 (id int PRIMARY KEY, k int, t text);
INSERT INTO a1 VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 20, 'three'), (4, NULL, 'four');
CREATE TABLE b1 (id int PRIMARY KEY, k int, u numeric(6,2));
INSERT INTO b1 VALUES (1, 10, 1.00), (2, 20, 2.50), (5, 30, NULL), (6, NULL, 6.00);
CREATE TABLE tree (id int PRIMARY KEY, parent int, name text);
INSERT INTO tree VALUES (1, NULL, 'root'), (2, 1, 'a'), (3, 1, 'b'), (4, 2, 'aa'), (5, 2, 'ab'), (6, 4, 'aaa');

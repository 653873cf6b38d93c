CREATE TABLE d1 (id int PRIMARY KEY, a text DEFAULT 'def', n numeric(8,2), ts timestamp, ok boolean NOT NULL DEFAULT true)
INSERT INTO d1 (id, n) VALUES (1, 1.005), (2, 2)
INSERT INTO d1 VALUES (3, 'c', 3.333, '2024-01-01', false)
INSERT INTO d1 (id, a) SELECT id + 10, t FROM a1 WHERE id < 3
INSERT INTO d1 (id, ok) VALUES (4, DEFAULT)
INSERT INTO d1 (id) VALUES (1)
INSERT INTO d1 (id, ok) VALUES (5, NULL)
INSERT INTO d1 (id, n) VALUES (5, 10000000)
INSERT INTO d1 (id, n) VALUES (5, 'abc')
INSERT INTO d1 (id, nosuch) VALUES (5, 1)
INSERT INTO d1 (id, id) VALUES (5, 1)
INSERT INTO d1 (id, a) VALUES (5)
INSERT INTO d1 (id) VALUES (5, 6)
INSERT INTO d1 VALUES (NULL, 'x')
INSERT INTO d1 (id, ts) VALUES (6, 5)
INSERT INTO nosuch VALUES (1)
SELECT * FROM d1 ORDER BY id
UPDATE d1 SET a = upper(a), n = n * 2 WHERE id < 3
UPDATE d1 SET n = n + 1, a = a || id WHERE id = 3
UPDATE d1 SET ok = NOT ok
UPDATE d1 SET a = DEFAULT WHERE id = 11
UPDATE d1 SET n = (SELECT max(u) FROM b1) WHERE id = 12
UPDATE d1 SET (a, n) = ('z', 9.99) WHERE id = 4
UPDATE d1 SET n = b1.u FROM b1 WHERE b1.id = d1.id AND false
UPDATE d1 d SET a = 'alias' WHERE d.id = 2
UPDATE d1 SET n = 1/0 WHERE id = 1
UPDATE d1 SET n = 1/0 WHERE id = 999
UPDATE d1 SET nosuch = 1
UPDATE d1 SET ok = NULL WHERE id = 1
UPDATE d1 SET id = 2 WHERE id = 1
UPDATE d1 SET id = 100 WHERE id = 11
UPDATE d1 SET n = 'x' WHERE id = 1
UPDATE d1 SET n = ok
UPDATE d1 SET a = 5 WHERE id = 1
UPDATE d1 SET a = a WHERE false
SELECT * FROM d1 ORDER BY id
DELETE FROM d1 WHERE n > 6 OR a IS NULL
DELETE FROM d1 WHERE id IN (SELECT id FROM a1 WHERE k = 10)
DELETE FROM d1 USING b1 WHERE d1.id = b1.id AND false
DELETE FROM d1 WHERE nosuch = 1
DELETE FROM nosuch
SELECT id, a, n FROM d1 ORDER BY id
INSERT INTO d1 (id, a) VALUES (50, 'r1'), (51, 'r2') RETURNING id, a, n, upper(a) AS u
INSERT INTO d1 (id) VALUES (52) RETURNING *
UPDATE d1 SET n = id * 1.5 WHERE id >= 50 RETURNING id, n, n + 1
DELETE FROM d1 WHERE id = 52 RETURNING id, a
DELETE FROM d1 WHERE id = 999 RETURNING *
INSERT INTO d1 (id, a) VALUES (50, 'again') ON CONFLICT DO NOTHING
INSERT INTO d1 (id, a) VALUES (50, 'again'), (60, 'new') ON CONFLICT (id) DO NOTHING RETURNING id
INSERT INTO d1 (id, a) VALUES (50, 'x') ON CONFLICT (id) DO UPDATE SET a = excluded.a || '!' RETURNING id, a
INSERT INTO d1 (id, a, n) VALUES (50, 'y', 1), (70, 'z', 2) ON CONFLICT (id) DO UPDATE SET n = d1.n + excluded.n, a = excluded.a WHERE d1.n > 0
INSERT INTO d1 (id, a) VALUES (80, 'a'), (80, 'b') ON CONFLICT (id) DO UPDATE SET a = excluded.a
INSERT INTO d1 (id, a) VALUES (50, 'x') ON CONFLICT (a) DO NOTHING
INSERT INTO d1 (id, a) VALUES (50, 'x') ON CONFLICT DO UPDATE SET a = 'q'
SELECT id, a, n FROM d1 ORDER BY id
BEGIN; INSERT INTO d1 (id) VALUES (90); SELECT count(*) FROM d1 WHERE id = 90; ROLLBACK; SELECT count(*) FROM d1 WHERE id = 90
BEGIN; INSERT INTO d1 (id) VALUES (91); SAVEPOINT s; INSERT INTO d1 (id) VALUES (92); ROLLBACK TO s; COMMIT; SELECT id FROM d1 WHERE id > 90
BEGIN; SELECT 1/0; COMMIT
ROLLBACK
BEGIN; SELECT nosuch FROM d1
SELECT 1
ROLLBACK
COMMIT
BEGIN; COMMIT; ROLLBACK
CREATE TABLE d2 (a smallint, b char(3), c varchar(3), d real, e date, f interval, j jsonb, u uuid, y bytea)
INSERT INTO d2 VALUES (1, 'ab', 'abc', 1.1, '2024-01-01', '1 day', '{"a":1}', '00112233-4455-6677-8899-aabbccddeeff', '\x01')
INSERT INTO d2 (a) VALUES (40000)
INSERT INTO d2 (b) VALUES ('abcd')
INSERT INTO d2 (b) VALUES ('ab    ')
INSERT INTO d2 (c) VALUES ('abcd')
INSERT INTO d2 (d) VALUES (1e300)
INSERT INTO d2 (e) VALUES ('2024-02-30')
INSERT INTO d2 (j) VALUES ('{bad')
INSERT INTO d2 (u) VALUES ('xyz')
INSERT INTO d2 (a) VALUES (1.5), (2.5), (3.5)
INSERT INTO d2 (a) VALUES ('5'), ('6')
INSERT INTO d2 (a) VALUES (true)
INSERT INTO d2 (e) VALUES (now()::date - now()::date)
SELECT a, b, c, d, e, f, j, u, y FROM d2 ORDER BY a, b
UPDATE d2 SET a = a + 1, d = d * 2, f = f * 2, e = e + 1 WHERE c = 'abc' RETURNING *
TRUNCATE d2
SELECT count(*) FROM d2
INSERT INTO d2 DEFAULT VALUES
INSERT INTO d2 DEFAULT VALUES RETURNING a
WITH x AS (SELECT 7 AS v) INSERT INTO d2 (a) SELECT v FROM x
WITH x AS (INSERT INTO d2 (a) VALUES (8) RETURNING a) SELECT * FROM x
UPDATE d2 SET a = 9 WHERE a = (SELECT max(k) FROM (VALUES (7)) v(k))
WITH x AS (SELECT 9 AS v) DELETE FROM d2 USING x WHERE a = x.v
DROP TABLE d1, d2

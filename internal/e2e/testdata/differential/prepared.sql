SELECT $1 + 1 \bind 41
SELECT $1::text \bind abc
SELECT $1 || 'x' \bind a
SELECT $1 \bind a
SELECT $1::int, $2::numeric \bind 1|2.50
SELECT id FROM a1 WHERE id = $1 \bind 2
SELECT id FROM a1 WHERE t = $1 OR k = $2 ORDER BY id \bind two|10
SELECT id FROM a1 WHERE id IN ($1, $2) ORDER BY id \bind 1|3
SELECT id FROM a1 WHERE k > $1 ORDER BY id LIMIT $2 \bind 5|1
SELECT $1::int IS NULL \bind \N
SELECT coalesce($1, 5) \bind \N
SELECT $1 = $2 \bind a|a
SELECT $1::date + $2 \bind 2024-01-01|5
SELECT $1::timestamptz AT TIME ZONE $2 \bind 2024-01-01 00:00+00|UTC
SELECT date_trunc($1, $2::timestamp) \bind month|2024-05-15
SELECT $1::jsonb->>$2 \bind {"a":1}|a
SELECT CASE WHEN $1 THEN 'y' ELSE 'n' END \bind t
SELECT $1 + $2 \bind 1|2
SELECT $1::int + $2 \bind 1|2
SELECT $1::int + $2 \bind 1|x
SELECT $2::int \bind 1|2
SELECT $1 LIKE 'a%', upper($1) \bind abc
SELECT sum(id) FROM a1 WHERE id < $1 \bind 3
SELECT * FROM generate_series(1, $1) \bind 3
SELECT * FROM (VALUES ($1::int), ($2)) v(x) ORDER BY x \bind 2|1
SELECT length($1), $1 \bind abc
SELECT $1::numeric / $2 \bind 1|3
SELECT $1 BETWEEN 1 AND 10 \bind 5
SELECT ($1, $2) = (1, 'a') \bind 1|a
SELECT interval '1 day' * $1 \bind 2
SELECT now() - $1 IS NOT NULL \bind 1 day
SELECT round($1, 2) \bind 1.005
SELECT substring($1 from $2 for $3) \bind hello|2|3
SELECT id FROM a1 WHERE k = $1 ORDER BY id \bind abc
SELECT id FROM nosuch WHERE id = $1 \bind 1
SELECT $1::smallint \bind 40000
SELECT $1::bool AND $2 \bind t|f
SELECT 1 \bind
SELECT $1::uuid, $2::bytea \bind 00112233-4455-6677-8899-aabbccddeeff|\x01ff
SELECT id = ANY($1) FROM a1 ORDER BY id \bind {1,3}
SELECT $1::int[] \bind {1,2,NULL}
SELECT nullif($1, ''), greatest($2, 1) \bind a|5
CREATE TABLE pt (id int PRIMARY KEY, a text, n numeric(6,2))
INSERT INTO pt VALUES ($1, $2, $3) \bind 1|x|1.239
INSERT INTO pt (id, a) VALUES ($1, $2), ($3, $2) \bind 2|y|3
INSERT INTO pt VALUES ($1, $2, $3) \bind 1|x|1
INSERT INTO pt VALUES ($1, $2, $3) \bind abc|x|1
UPDATE pt SET a = $1, n = n + $2 WHERE id = $3 \bind z|1.5|1
UPDATE pt SET a = a || $1 WHERE id > $2 \bind !|1
DELETE FROM pt WHERE id = $1 \bind 3
SELECT * FROM pt ORDER BY id
DROP TABLE pt
SELECT $0
SELECT $1 + \bind 1

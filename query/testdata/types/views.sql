SELECT * FROM cheerful ORDER BY id
SELECT who, feels FROM cheerful c WHERE c.id > 1 ORDER BY c.who DESC
SELECT * FROM counted ORDER BY mood
SELECT c.mood, c.n, p.name FROM counted c JOIN person p ON p.feels = c.mood ORDER BY p.id
SELECT v.a, v.b FROM counted AS v(a, b) ORDER BY 1
SELECT count(*), max(n), sum(n) FROM counted
SELECT mood, sum(n) FROM counted GROUP BY mood HAVING sum(n) > 1
SELECT nothing FROM cheerful
SELECT public.cheerful.who FROM public.cheerful ORDER BY 1
SELECT * FROM cheerful x, cheerful y WHERE x.id = y.id ORDER BY x.id
WITH cheerful AS (SELECT 1 AS one) SELECT * FROM cheerful
SELECT id FROM person WHERE id IN (SELECT id FROM cheerful) ORDER BY id
SELECT (SELECT n FROM counted WHERE mood = p.feels) FROM person p ORDER BY p.id
SELECT id FROM cheerful UNION SELECT n FROM counted ORDER BY 1
SELECT who FROM cheerful GROUP BY id
SELECT row_to_json(c) FROM counted c ORDER BY mood
SELECT unnest(past) AS m FROM cheerful ORDER BY m, id
SELECT p.id, c.who FROM person p LEFT JOIN cheerful c ON c.id = p.id ORDER BY p.id

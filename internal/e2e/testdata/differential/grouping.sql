SELECT a, count(*), sum(b), avg(c), min(d), max(c) FROM g GROUP BY a ORDER BY a
SELECT a, b, sum(c) FROM g GROUP BY ROLLUP (a, b) ORDER BY a, b, 3
SELECT a, b, count(*) FROM g GROUP BY CUBE (a, b) ORDER BY a, b, 3
SELECT a, b, count(*) FROM g GROUP BY GROUPING SETS ((a), (b), ()) ORDER BY a, b, 3
SELECT a, b, grouping(a, b), grouping(a), count(*) FROM g GROUP BY ROLLUP (a, b) ORDER BY 3, a, b
SELECT a, sum(c) FROM g GROUP BY ROLLUP (a) HAVING grouping(a) = 0 OR sum(c) > 5 ORDER BY a, 2
SELECT a, b, ok, count(*) FROM g GROUP BY a, ROLLUP (b, ok) ORDER BY a, b, ok, 4
SELECT a, b, count(*) FROM g GROUP BY GROUPING SETS (ROLLUP (a), CUBE (b)) ORDER BY a, b, 3
SELECT a, b, count(*) FROM g GROUP BY GROUPING SETS ((a, b), a) ORDER BY a, b, 3
SELECT c, count(*) FROM g GROUP BY ROLLUP (c) ORDER BY c, 2
SELECT coalesce(a, 'all') AS k, count(*) FROM g GROUP BY ROLLUP (a) ORDER BY k, 2
SELECT upper(a), sum(b) FROM g GROUP BY ROLLUP (upper(a)) ORDER BY 1, 2
SELECT count(*) FROM g GROUP BY ()
SELECT count(*) FROM g WHERE false GROUP BY GROUPING SETS ((), (a))
SELECT grouping(a) FROM g
SELECT grouping(b) FROM g GROUP BY a
SELECT a, b, grouping(b), rank() OVER (ORDER BY count(*) DESC, a, b) FROM g GROUP BY ROLLUP (a, b) ORDER BY 4, 1, 2
SELECT DISTINCT a FROM g GROUP BY ROLLUP (a, b) ORDER BY a
SELECT a, b, count(*) FROM g GROUP BY DISTINCT ROLLUP (a, b), ROLLUP (a) ORDER BY a, b, 3
SELECT a, b, count(*) FROM g GROUP BY ROLLUP (a), ROLLUP (b) ORDER BY a, b, 3
SELECT a, b, count(*) FROM g GROUP BY ROLLUP ((a, b)) ORDER BY a, b, 3
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY d), percentile_disc(0.5) WITHIN GROUP (ORDER BY d), mode() WITHIN GROUP (ORDER BY a) FROM g
SELECT a, percentile_cont(0.25) WITHIN GROUP (ORDER BY b), percentile_disc(0.75) WITHIN GROUP (ORDER BY c), mode() WITHIN GROUP (ORDER BY b) FROM g GROUP BY a ORDER BY a
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a), percentile_disc(0) WITHIN GROUP (ORDER BY a DESC), percentile_disc(1) WITHIN GROUP (ORDER BY id) FROM g
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY iv) FROM tm WHERE id IN (1, 2, 7)
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY d) FROM g
SELECT percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY d) FROM g
SELECT percentile_cont(NULL) WITHIN GROUP (ORDER BY d), percentile_cont(0.5) WITHIN GROUP (ORDER BY d) FILTER (WHERE id < 3), percentile_disc(0.3) WITHIN GROUP (ORDER BY d DESC NULLS FIRST) FROM g
SELECT rank(2) WITHIN GROUP (ORDER BY b) FROM g
SELECT mode(b) FROM g
SELECT percentile_cont(0.5) FROM g
SELECT sum(b) WITHIN GROUP (ORDER BY b) FROM g
SELECT mode() WITHIN GROUP (ORDER BY trim_scale(c)), mode() WITHIN GROUP (ORDER BY ok) FROM g
SELECT count(DISTINCT a), count(DISTINCT c), sum(DISTINCT b), avg(DISTINCT b), sum(DISTINCT c), avg(DISTINCT c), min(DISTINCT c), string_agg(DISTINCT a, ',') FROM g
SELECT sum(DISTINCT c), count(DISTINCT (c)) FROM (VALUES (1.0),(1.00),(2)) t(c)
SELECT count(DISTINCT (a, b)) FROM g
SELECT sum(b) FILTER (WHERE ok), count(*) FILTER (WHERE b > 1), avg(c) FILTER (WHERE a = 'x'), string_agg(a, ',' ORDER BY id) FILTER (WHERE id > 2) FROM g
SELECT a, string_agg(b::text, ',' ORDER BY id DESC), string_agg(b::text, ',' ORDER BY b, id) FROM g GROUP BY a ORDER BY a
SELECT corr(c::float8, d), covar_pop(c::float8, d), regr_slope(c::float8, d), regr_count(c::float8, d) FROM g
SELECT bit_and(b), bit_or(b), bit_xor(b), bool_and(ok), every(ok), bool_or(ok) FROM g
SELECT stddev(b), variance(b), stddev(c), var_pop(c), stddev(d), var_samp(d), stddev_pop(b), stddev_samp(d) FROM g
SELECT a, b FROM g GROUP BY a
SELECT a FROM g GROUP BY a HAVING b > 1
SELECT a, count(*) FROM g GROUP BY a HAVING count(*) > 1 ORDER BY count(*) DESC, a
SELECT count(*) AS n, b FROM g GROUP BY b ORDER BY n DESC, b
SELECT b % 2 AS p, count(*) FROM g GROUP BY p ORDER BY p
SELECT b + 1, count(*) FROM g GROUP BY b + 1 ORDER BY 1
SELECT CASE WHEN b > 1 THEN 'hi' ELSE 'lo' END AS k, count(*) FROM g GROUP BY 1 ORDER BY 1
SELECT id, a, count(*) FROM g GROUP BY id ORDER BY id
SELECT g.*, count(*) FROM g GROUP BY g.id ORDER BY id
SELECT a FROM g GROUP BY a, a, 1 ORDER BY a
SELECT sum(b) FROM g HAVING sum(b) > 100
SELECT sum(b) + 1, sum(b + 1), -sum(b), sum(b)::text, sum(b) * avg(c) FROM g
SELECT sum(sum(b)) FROM g
SELECT sum(b) FROM g WHERE sum(b) > 1
SELECT max(a), min(a), max(id), min(c), max(d) FROM g WHERE a IS NOT NULL
SELECT count(*) FROM g, a1 WHERE g.id = a1.id
SELECT a, (SELECT count(*) FROM a1 WHERE a1.id <= max(g.id)) FROM g GROUP BY a ORDER BY a
SELECT any_value(a) FROM g
SELECT min(ARRAY[b]), max(ARRAY[b]) FROM g WHERE b IS NOT NULL
SELECT array_agg(a ORDER BY id), array_agg(c) FILTER (WHERE id = 1) FROM g
SELECT DISTINCT ON (a) a, b, c FROM g ORDER BY a, b DESC, id
SELECT DISTINCT a, b FROM g ORDER BY a, b
SELECT DISTINCT a FROM g ORDER BY b
SELECT avg(b), avg(c), avg(d), avg(b::int2), avg(b::int8), avg(b::float4) FROM g
SELECT sum(b) OVER (), a FROM g GROUP BY a

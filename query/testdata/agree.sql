-- One statement a line. Expressions and names.
SELECT 1
SELECT 1+1, 2*3 AS six, 'x', NULL, true, 1.50, 1e3, 12345678901, 123456789012345678901
SELECT 7/2, -7/2, 7%3, -7%3, 7.0/2, 1.0/3.0, 2::numeric/3, 10::numeric(10,2)/4
SELECT 1/0
SELECT 5%0
SELECT 1.5/0
SELECT 1::float8/0
SELECT 0::float8/0
SELECT 2147483647+1
SELECT 9223372036854775807+1
SELECT 32767::smallint+1::smallint
SELECT -(-2147483648)
SELECT pg_typeof(-2147483648), pg_typeof(-(2147483648)), pg_typeof(-2147483649), -2147483648
SELECT (-2147483648) / (-1)
SELECT -((-2147483648)::int)
SELECT abs((-32768)::int2)
SELECT 2147483647::int * 2
SELECT 5^2, 2^0.5::float8, 2.0^3.0::float8, power(2,10), |/ 25.0, ||/ 27.0
SELECT 5 # 3, 5 & 3, 5 | 3, ~5, 1 << 4, 256 >> 2
SELECT 1.10::numeric, '1.10'::numeric + 1, 1.1*1.10, 1.5 - 1.50, -1.5, +2.50
SELECT 1e20::numeric*1e20::numeric
SELECT round(2.5::float8), round(0.5::float8), round(2.5), round(-2.5), round(1.2345, 2), round(12345.678, -2), trunc(1.999, 1), trunc(-1.9)
SELECT ceil(1.2), floor(-1.2), ceil(-0.5::float8), ceiling(1.0), sign(-3), sign(-3.5), abs(-1.5), abs(-7)
SELECT sqrt(2::numeric), sqrt(2), sqrt(0.0001), sqrt(123456789.123), sqrt(0::numeric)
SELECT sqrt(-1::float8)
SELECT ln(0::float8)
SELECT ln(10), exp(1), log(100::float8), sin(1), cos(1), tan(1), atan2(1,2), pi(), degrees(1), radians(180)
SELECT 1e308::float8*10
SELECT 1::float4/3, 0.1::float4+0.2::float4, 0.1::float8+0.2::float8, 1::float4+1::float8, 1+1::float4, 1.5+1::float4
SELECT mod(10,3), mod(10.5,3), div(7,2), div(7.5,2), gcd(12,18), lcm(4,6), scale(1.500), trim_scale(1.500)
SELECT greatest(1,2,3), least(1.5,2), greatest(1,NULL,3), greatest('a','b'), greatest(1.10,1.1), least(1.10,1.1)
SELECT 'NaN'::numeric, 'Infinity'::numeric - 1, 'NaN'::numeric = 'NaN'::numeric, 'NaN'::float8 > 1e300
SELECT true AND NULL, false AND NULL, true OR NULL, NOT NULL::bool, NULL IS NULL, 1 IS NOT NULL
SELECT 1 = 1.0, 1 < 2.5, 1::int2 = 1::int8, 1.0 = 1.00, '1' = 1, 0.1::float4 = 0.1, 0.1::float8 = 0.1
SELECT 'abc' < 'abd', 'a' < 'B', 'Z' < 'a', 'é' > 'z', 'a'::char(5) = 'a', 'a'::char(5) = 'a  '::text, 'a'::varchar = 'a'
SELECT 1 BETWEEN 0 AND 2, 5 NOT BETWEEN 1 AND 3, 2 BETWEEN SYMMETRIC 3 AND 1
SELECT 1 IN (1,2,3), 4 IN (1,2,3), NULL IN (1,2), 1 NOT IN (2,NULL), 'a' IN ('a','b'), 1.0 IN (1, 2)
SELECT (1,2) = (1,2), (1,2) < (1,3), (1,NULL) = (1,NULL), (1,2) < (1,NULL), (1,2) <> (1,3), (2,1) >= (1,NULL), (1,2) IN ((1,2),(3,4))
SELECT 1 IS DISTINCT FROM NULL, NULL IS DISTINCT FROM NULL, 1.0 IS NOT DISTINCT FROM 1.00
SELECT 1 = ANY(ARRAY[1,2]), 3 = ANY('{1,2}'), 3 <> ALL('{1,2}'::int[]), 'b' = ANY('{a,"b",c}'::text[]), 5 > ALL(ARRAY[1,2,3])
SELECT CASE WHEN 1=1 THEN 'a' ELSE 'b' END, CASE 2 WHEN 1 THEN 1.5 WHEN 2 THEN 2 END, CASE WHEN false THEN 1 END
SELECT coalesce(NULL, 1, 2), coalesce(NULL, 'x'), nullif(1,1), nullif(1,2), nullif('a','b')
SELECT true IS TRUE, NULL::bool IS UNKNOWN, false IS NOT FALSE
SELECT 'a' || 'b', 'a' || 1, 1 || 'a', 'x' || NULL, 'a' || true, 'a'::char(3) || 'b', 1.50 || ''
SELECT concat('a', 1, NULL, true, 1.50), concat_ws('-', 'a', NULL, 2), concat('a'::char(3), 'b')
SELECT upper('straße'), lower('ÄBC'), initcap('hello wOrld'), length('é'), octet_length('é'), char_length('abc'), reverse('abé')
SELECT substr('abc',-1,3), substring('abcdef' from 2 for 3), substring('abcdef', 3), left('abc', 2), left('abc', -1), right('abc', 2), right('abc', -1)
SELECT 'a_c' like 'a\_c', 'abc' like 'a%', 'abc' ilike 'A_C', 'abc' not like '%x%', 'a%c' like 'a!%c' escape '!', '' like '%', 'é' like '_'
SELECT 'abc' ~ '^a', 'abc' ~ 'b', 'abc' ~* 'B', 'abc' !~ 'x', 'a1' ~ '[0-9]$', 'foo' ~ '^(foo|bar)$'
SELECT regexp_replace('abcabc', 'b', 'X'), regexp_replace('abcabc', 'b', 'X', 'g'), regexp_replace('abc', '(b)', '<\1>'), substring('foobar' from 'o(.)b')
SELECT lpad('a',3), rpad('a',3,'xy'), lpad('abc',2), ltrim('  a '), rtrim('xxaxx','x'), btrim(' a '), trim(both 'x' from 'xax'), trim(leading from '  a')
SELECT replace('aXbX','X','yy'), translate('12345', '143', 'ax'), strpos('hello','l'), position('lo' in 'hello'), repeat('ab',3), split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1)
SELECT md5('a'), ascii('x'), ascii('é'), chr(233), to_hex(255), quote_literal('a''b'), quote_literal('a\b'), starts_with('abc','ab')
SELECT chr(0)
SELECT encode('\x01ff'::bytea,'hex'), encode('abc'::bytea,'base64'), encode('\x00ff5c'::bytea,'escape'), decode('01ff','hex'), length('\x01ff'::bytea), '\x01'::bytea || '\x02'::bytea
SELECT 'abc'::varchar(2), 'abc'::char(5), 'abc'::char(2), 'a '::char(1), cast('x' as text)
SELECT cast('4.5' as int)
SELECT cast('abc' as int)
SELECT ''::int
SELECT cast('on' as boolean), 'f'::bool, 'yes'::bool
SELECT 1::bool, true::int, 0::bool, true::text, 12::text, 1.50::text, 1e15::float8::text
SELECT 4.5::int, 5.5::int, -4.5::int, 4.5::float8::int, 5.5::float8::int, 2.5::float4::int, 3000000000::int8::float4, 1.005::numeric(10,2)
SELECT 3000000000::int
SELECT 1e10::float8::int
SELECT 123.456::numeric(5,3)
SELECT 'NaN'::numeric::int
SELECT 0.1::float8::numeric, 1e-7::float8::numeric, 123456789.123456789::float8::numeric, 0.1::float4::numeric, 1e20::numeric::float8
SELECT '12'::text::int + 1, ' 12 '::int, '1e3'::float8, 'Infinity'::float8, '-0'::float8, '0x'::text
SELECT foo(1)
SELECT lower(1)
SELECT 1 + 'a'
SELECT 1 + true
SELECT 'a'::text = 1
SELECT -'a'::text
SELECT * FROM nosuch
SELECT nosuch FROM emp
SELECT e.nosuch FROM emp e
SELECT x.id FROM emp e
SELECT id FROM emp, dept
SELECT name, count(*) FROM emp
SELECT dept, name FROM emp GROUP BY dept
SELECT id FROM emp WHERE count(*) > 1
SELECT sum(count(*)) FROM emp
SELECT id FROM emp WHERE id
SELECT id FROM emp WHERE 1 AND true
SELECT CASE WHEN 1 THEN 2 END
SELECT CASE WHEN true THEN 1 ELSE 'a'::text END
SELECT coalesce(1, 'x'::text)
SELECT 1 UNION SELECT 'a'::text
SELECT 1 UNION SELECT 1, 2
SELECT id FROM emp ORDER BY 5
SELECT id FROM emp ORDER BY nosuch
SELECT DISTINCT name FROM emp ORDER BY id
SELECT 1 LIMIT -1
SELECT emp.id FROM emp e
SELECT 1::nosuchtype
SELECT (SELECT 1, 2)
SELECT (SELECT id FROM emp)
SELECT 1 IN (SELECT id, name FROM emp)
SELECT e.id FROM emp e JOIN emp e ON true
SELECT rank() FROM emp
SELECT id FROM emp WHERE row_number() OVER () = 1
SELECT 'x'::json = 'y'::json
SELECT id FROM emp e JOIN dept d USING (nosuch)
SELECT max(ok) FROM emp
SELECT sum(name) FROM emp
-- Output names.
SELECT '1'::int, 1::text, now() IS NOT NULL, upper('a'), (SELECT 5), (SELECT 5 AS five), EXISTS (SELECT 1), CASE WHEN true THEN 1 END, true, cast(name as text) FROM emp LIMIT 1
SELECT count(*), max(id), coalesce(max(id),0), -max(id), max(id)::text, extract(year from max(hired)) FROM emp
SELECT current_user IS NOT NULL, current_date = current_date, e.id, e.name::text, nullif(e.id, 0), greatest(1), least(1) FROM emp e WHERE id = 1
SELECT 'a'::char(3), 'a'::varchar(3), 1::int2, 1.5::float4, interval '1 day', date '2024-01-01', timestamp '2024-01-01', position('a' in 'b'), 1 AS "Quoted Name"
-- Tables.
SELECT e.*, d.name FROM emp e JOIN dept d ON e.dept = d.id ORDER BY e.id
SELECT * FROM emp e LEFT JOIN dept d ON e.dept = d.id ORDER BY e.id
SELECT * FROM emp e RIGHT JOIN dept d ON e.dept = d.id ORDER BY e.id, d.id
SELECT e.id, d.id FROM emp e FULL JOIN dept d ON e.dept = d.id ORDER BY e.id, d.id
SELECT * FROM emp CROSS JOIN dept ORDER BY 1, dept.id
SELECT * FROM emp JOIN dept USING (id) ORDER BY id
SELECT id, emp.id, dept.id FROM emp FULL JOIN dept USING (id) ORDER BY id
SELECT * FROM emp NATURAL JOIN dept
SELECT * FROM (emp JOIN dept ON emp.dept = dept.id) AS j(a,b) ORDER BY a
SELECT a.id, b.name AS boss FROM emp a LEFT JOIN emp b ON a.boss = b.id ORDER BY a.id
SELECT id, name FROM emp WHERE dept = 2 AND salary > 1 ORDER BY name
SELECT id FROM emp WHERE salary = 1200.50 ORDER BY id
SELECT id FROM emp WHERE hired >= '2020-01-15' ORDER BY hired DESC
SELECT id FROM emp WHERE hired IS NULL OR ok ORDER BY id
SELECT id, note, note = 'a', length(note), note || '!' FROM emp ORDER BY id
SELECT id, salary FROM emp ORDER BY salary
SELECT id, salary FROM emp ORDER BY salary DESC NULLS LAST, id
SELECT id, score FROM emp ORDER BY score DESC
SELECT id, score + 1, score * 2, -score FROM emp WHERE id <> 6 ORDER BY id
SELECT name FROM emp ORDER BY name
SELECT name FROM emp ORDER BY upper(name) DESC LIMIT 3
SELECT id FROM emp ORDER BY id LIMIT 2 OFFSET 1
SELECT id FROM emp ORDER BY id OFFSET 4
SELECT id FROM emp ORDER BY id LIMIT ALL
SELECT id FROM emp ORDER BY id LIMIT NULL
SELECT id FROM emp ORDER BY id LIMIT (SELECT 2)
SELECT id FROM emp ORDER BY id LIMIT 1+1
SELECT id FROM emp ORDER BY id FETCH FIRST 2 ROWS ONLY
SELECT id AS x, -id AS y FROM emp ORDER BY y
SELECT DISTINCT dept FROM emp ORDER BY dept
SELECT DISTINCT dept, ok FROM emp ORDER BY dept DESC, ok
SELECT count(DISTINCT salary), count(DISTINCT dept), count(salary), count(*) FROM emp
SELECT DISTINCT ON (dept) dept, name FROM emp ORDER BY dept, id DESC
SELECT id, -salary, salary * 2, salary / 3, salary + id, salary - 0.5, salary % 7, round(salary, 1) FROM emp ORDER BY id
SELECT id, hired + 1, hired - date '2020-01-01', hired + interval '1 month', extract(year from hired), date_trunc('month', hired::timestamp) FROM emp ORDER BY id
-- Groups.
SELECT dept, count(*) FROM emp GROUP BY dept ORDER BY dept
SELECT dept, sum(salary), avg(salary), min(salary), max(salary) FROM emp GROUP BY dept ORDER BY dept
SELECT sum(id), avg(id), min(name), max(name), min(hired), max(hired), bool_and(ok), bool_or(ok), every(ok) FROM emp
SELECT sum(l), avg(l), sum(i), sum(s), avg(s), avg(i) FROM kinds WHERE l BETWEEN -10 AND 10
SELECT sum(f), avg(f), sum(d), avg(d) FROM kinds WHERE i BETWEEN 1 AND 3 AND i <> 1
SELECT sum(n), avg(n), max(n), min(n), sum(m), avg(m), max(m) FROM kinds WHERE i BETWEEN 1 AND 3
SELECT sum(n), max(n), min(n) FROM kinds
SELECT max(c), min(c), max(iv), min(iv), max(ts), min(tz), max(ti), min(t), sum(iv), avg(iv) FROM kinds WHERE i BETWEEN 1 AND 3
SELECT stddev(id), variance(id), stddev_pop(id), var_pop(id), stddev(salary), var_samp(score) FROM emp WHERE id < 3
SELECT stddev(x), variance(x) FROM (VALUES (1),(2),(4)) t(x)
SELECT stddev(x), variance(x) FROM (VALUES (1.5::float8),(2.25),(4)) t(x)
SELECT count(*) FROM emp WHERE false
SELECT sum(id), avg(id), max(id), count(id) FROM emp WHERE false
SELECT dept, count(*) FROM emp WHERE false GROUP BY dept
SELECT dept, count(*) AS n FROM emp GROUP BY dept HAVING count(*) > 1 ORDER BY n DESC, dept
SELECT dept, count(*) FILTER (WHERE ok), sum(id) FILTER (WHERE id > 2) FROM emp GROUP BY dept ORDER BY dept
SELECT dept % 2 AS odd, count(*) FROM emp GROUP BY dept % 2 ORDER BY 1
SELECT dept + 1, dept + 1 + count(*) FROM emp GROUP BY dept + 1 ORDER BY 1
SELECT upper(name) AS u, count(*) FROM emp GROUP BY u ORDER BY u
SELECT upper(name), count(*) FROM emp GROUP BY 1 ORDER BY 1
SELECT e.id, e.name, count(*) FROM emp e JOIN emp b ON b.boss = e.id GROUP BY e.id ORDER BY e.id
SELECT string_agg(name, ',' ORDER BY id), string_agg(name, '-' ORDER BY name DESC) FROM emp
SELECT count(*) FROM emp HAVING count(*) > 100
SELECT 1 FROM emp HAVING true
SELECT max(id) + min(id) FROM emp ORDER BY max(id)
SELECT dept FROM emp GROUP BY dept ORDER BY count(*) DESC, dept NULLS FIRST
SELECT m, count(*) FROM kinds GROUP BY m ORDER BY m
SELECT count(*), c FROM kinds WHERE i BETWEEN 1 AND 3 GROUP BY c ORDER BY c
SELECT CASE WHEN dept = 1 THEN 'one' ELSE 'other' END AS d, count(*) FROM emp GROUP BY CASE WHEN dept = 1 THEN 'one' ELSE 'other' END ORDER BY 1
SELECT x, count(*) FROM (VALUES (1.0),(1.00),(2)) t(x) GROUP BY x ORDER BY x DESC LIMIT 1
-- Windows.
SELECT id, row_number() OVER (ORDER BY id DESC) FROM emp ORDER BY id
SELECT id, rank() OVER (PARTITION BY dept ORDER BY id), dense_rank() OVER (ORDER BY dept), ntile(2) OVER (ORDER BY id) FROM emp ORDER BY id
SELECT id, sum(id) OVER (ORDER BY id), sum(salary) OVER (ORDER BY id), avg(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM emp ORDER BY id
SELECT id, lag(name) OVER (ORDER BY id), lead(id, 2) OVER (ORDER BY id), lag(id, 1, 0) OVER w, first_value(name) OVER w, last_value(id) OVER w FROM emp WINDOW w AS (ORDER BY id) ORDER BY id
SELECT id, percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY id), nth_value(id, 2) OVER (ORDER BY id) FROM emp ORDER BY id
SELECT dept, sum(count(*)) OVER (ORDER BY dept) FROM emp GROUP BY dept ORDER BY dept
SELECT id, count(*) OVER (), sum(id) FILTER (WHERE ok) OVER (ORDER BY id) FROM emp ORDER BY id
SELECT id, sum(id) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING), max(salary) OVER (PARTITION BY dept) FROM emp ORDER BY id
-- Subqueries.
SELECT id FROM emp WHERE dept IN (SELECT id FROM dept WHERE budget > 2000) ORDER BY id
SELECT id FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE id > 1) ORDER BY id
SELECT id FROM emp e WHERE EXISTS (SELECT 1 FROM emp b WHERE b.boss = e.id) ORDER BY id
SELECT id FROM emp e WHERE NOT EXISTS (SELECT 1 FROM emp b WHERE b.boss = e.id) ORDER BY id
SELECT id, (SELECT name FROM dept WHERE dept.id = emp.dept) FROM emp ORDER BY id
SELECT id, (SELECT count(*) FROM emp b WHERE b.boss = e.id) AS reports FROM emp e ORDER BY id
SELECT id FROM emp WHERE salary > (SELECT avg(salary) FROM emp) ORDER BY id
SELECT id FROM emp WHERE salary >= ALL (SELECT salary FROM emp WHERE salary IS NOT NULL)
SELECT id FROM emp WHERE salary < ANY (SELECT salary FROM emp) ORDER BY id
SELECT id FROM emp WHERE (dept, id) IN (SELECT dept, max(id) FROM emp GROUP BY dept) ORDER BY id
SELECT * FROM (SELECT id, name FROM emp) s WHERE s.id < 3 ORDER BY 1
SELECT * FROM (SELECT id AS a FROM emp) s(b) ORDER BY b
SELECT d.id, t.n FROM dept d, LATERAL (SELECT count(*) AS n FROM emp WHERE emp.dept = d.id) t ORDER BY d.id
SELECT d.id, t.name FROM dept d LEFT JOIN LATERAL (SELECT name FROM emp WHERE emp.dept = d.id ORDER BY id LIMIT 1) t ON true ORDER BY d.id
SELECT 1 WHERE 2 IN (SELECT 2)
SELECT EXISTS (SELECT * FROM emp WHERE id = 99), 1 = (SELECT 1), (SELECT NULL), (SELECT id FROM emp WHERE id = 99)
-- WITH, VALUES, set operations.
WITH a AS (SELECT id FROM emp WHERE id < 3) SELECT * FROM a ORDER BY id
WITH a(x) AS (SELECT id FROM emp), b AS (SELECT x FROM a WHERE x > 4) SELECT a.x FROM a JOIN b ON a.x = b.x ORDER BY 1
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n), count(*) FROM r
WITH RECURSIVE t AS (SELECT id, name, 1 AS depth FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, e.name, t.depth + 1 FROM emp e JOIN t ON e.boss = t.id) SELECT * FROM t ORDER BY id
WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT (n % 3) + 1 FROM r) SELECT n FROM r ORDER BY n
WITH m AS MATERIALIZED (SELECT sum(salary) AS s FROM emp) SELECT s FROM m
VALUES (1,'a'),(2,'b')
VALUES (1),(2.5),(NULL) ORDER BY 1 DESC
SELECT * FROM (VALUES (1,'x'),(2,NULL)) v(a,b) ORDER BY a
SELECT column1, column2 FROM (VALUES (1,'x')) v
SELECT id FROM emp WHERE id < 3 UNION SELECT id FROM dept ORDER BY id
SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 2.5 ORDER BY 1
SELECT 1.0 UNION SELECT 1.0
SELECT id FROM emp INTERSECT SELECT id FROM dept ORDER BY 1
SELECT id FROM emp EXCEPT SELECT id FROM dept ORDER BY 1
SELECT 'a' UNION SELECT NULL ORDER BY 1
SELECT name FROM emp UNION SELECT name FROM dept ORDER BY name
SELECT '2020-01-01' UNION ALL SELECT hired FROM emp WHERE id = 1 ORDER BY 1
(SELECT id FROM emp ORDER BY id DESC LIMIT 1) UNION ALL (SELECT id FROM dept ORDER BY id LIMIT 1)
SELECT NULL UNION ALL SELECT 1
-- Series.
SELECT * FROM generate_series(1,9) g
SELECT g, g*2 FROM generate_series(1,3) g ORDER BY g
SELECT * FROM generate_series(1,3) AS g(x) ORDER BY x
SELECT generate_series FROM generate_series(3,1,-1)
SELECT generate_series(1,3)
SELECT generate_series(1,3) AS x, 'a'
SELECT count(*), sum(g) FROM generate_series(1,100000) g
SELECT * FROM generate_series(1,0) g
SELECT * FROM generate_series(1,5,0) g
SELECT g.x, g.n FROM generate_series(5,7) WITH ORDINALITY AS g(x,n) ORDER BY n
SELECT d.id, g FROM dept d, generate_series(1, d.id) g ORDER BY 1, 2
SELECT * FROM generate_series(timestamp '2024-01-31', '2024-05-31', '1 month') g ORDER BY 1
SELECT * FROM generate_series(timestamptz '2024-03-30', '2024-04-02', '1 day') g ORDER BY 1
SELECT g FROM generate_series(date '2024-01-01', date '2024-01-03', interval '1 day') g ORDER BY 1
SELECT id, generate_series(1, id) FROM dept ORDER BY 1, 2
-- Dates and times.
SELECT date '2024-02-29' + 1, date '2024-03-01' - date '2024-02-01', date '2024-01-31' + interval '1 month', timestamp '2024-03-31 10:00' - interval '1 month'
SELECT timestamp '2024-03-01 12:00' - timestamp '2024-01-31', timestamptz '2024-04-01' - timestamptz '2024-03-30', time '10:00' - time '09:30', time '23:00' + interval '2 hours'
SELECT timestamptz '2024-03-30 12:00' + interval '1 day', timestamptz '2024-03-30 12:00' + interval '24 hours', timestamptz '2024-10-26 02:30' + interval '1 day'
SELECT interval '1 year 2 months 3 days 04:05:06', interval '-1 day 2 hours', interval '1 day' * 1.5, interval '1 month' / 4, interval '1 month' + interval '1 day', - interval '1 day', interval '1 mon' * 0.3
SELECT interval '1 month' = interval '30 days', interval '1 day' > interval '23 hours', interval '36 hours' = interval '1 day 12 hours'
SELECT justify_hours(interval '36 hours'), justify_days(interval '35 days'), justify_interval(interval '1 mon -1 hour')
SELECT extract(epoch from timestamp '2024-01-01 00:00:00.5'), extract(epoch from interval '1 month'), extract(epoch from interval '1 year'), extract(epoch from date '2024-01-01'), date_part('epoch', timestamp '2024-01-01 00:00:00.5')
SELECT extract(year from timestamp '2024-05-06 07:08:09.123456'), extract(month from date '2024-05-06'), extract(second from timestamp '2024-05-06 07:08:09.123456'), extract(ms from time '07:08:09.5'), extract(us from time '07:08:09.5'), extract(dow from date '2024-05-05'), extract(isodow from date '2024-05-05'), extract(doy from date '2024-05-06')
SELECT extract(week from date '2021-01-03'), extract(isoyear from date '2021-01-03'), extract(century from date '2000-12-31'), extract(millennium from date '2001-01-01'), extract(decade from date '1999-01-01'), extract(quarter from date '2024-05-06'), extract(julian from date '2024-05-06'), extract(year from date '0044-03-15 BC')
SELECT extract(hour from timestamptz '2024-05-06 07:08:09+00'), extract(timezone from timestamptz '2024-05-06 07:08:09+00'), extract(timezone_hour from timestamptz '2024-01-06 07:08:09+00'), extract(day from interval '40 days 5 hours'), extract(hour from interval '40 days 5 hours')
SELECT extract(hour from date '2024-01-01')
SELECT extract(foo from date '2024-01-01')
SELECT date_part('hour', date '2024-01-01'), date_part('year', timestamp 'infinity'), extract(day from timestamp 'infinity'), extract(julian from timestamp '2024-01-01 12:00')
SELECT date_trunc('month', timestamptz '2024-01-15 00:00+00'), date_trunc('hour', timestamp '2024-01-15 10:20:30'), date_trunc('week', timestamp '2024-01-17'), date_trunc('quarter', timestamp '2024-05-17'), date_trunc('century', timestamp '2024-05-17'), date_trunc('day', interval '3 days 4 hours'), date_trunc('month', date '2024-05-17')
SELECT timestamptz '2024-01-01 00:00+00' at time zone 'America/New_York', timestamp '2024-07-01 00:00' at time zone 'America/New_York', timestamptz '2024-01-01 00:00+00'
SELECT timestamp '2024-01-01 00:00' < timestamptz '2024-01-01 00:00+00', date '2024-01-01' = timestamp '2024-01-01', date '2024-01-01' < timestamptz '2024-01-01 12:00'
SELECT timestamp '2024-01-01 00:00:00.123456789', timestamp '2024-01-01 23:59:59.9999999', timestamp '0044-03-15 BC', timestamp '294276-12-31', timestamp 'infinity', date '-infinity'
SELECT '2024-01-01 10:11:12.56789'::timestamp(2), '10:11:12.56789'::time(1), '2024-01-01 10:11:12'::timestamp::date, '2024-01-01 10:11:12'::timestamp::time, '2024-01-01'::date::timestamp, '2024-07-01'::date::timestamptz
SELECT make_date(2024,2,28), make_timestamp(2024,2,28,1,2,3.5), to_timestamp(1704067200.5), date_bin('15 minutes', timestamp '2024-01-01 00:17', timestamp '2024-01-01'), isfinite(date 'infinity'), isfinite(timestamp '2024-01-01')
SELECT make_date(2024,2,30)
SELECT date '2024-02-30'
SELECT timestamp '294276-12-31' + interval '1 year'
SELECT date '5874897-12-31' + 1
SELECT to_char(timestamp '2024-01-02 03:04:05.678','YYYY-MM-DD HH24:MI:SS'), to_char(timestamp '2024-01-02 15:04:05.678','FMMonth DD, YYYY HH12:MI am .MS US'), to_char(date '2024-03-09', 'Day DY dd FMDD DDD IW Q CC J "lit" Mon MON'), to_char(timestamptz '2024-07-02 15:04:05+00','HH24 TZ OF')
SELECT id, to_char(hired, 'DD.MM.YYYY') FROM emp ORDER BY id
-- Kinds.
SELECT n + 1, n * 2, -n, abs(n), n = n, n > 0 FROM kinds ORDER BY i
SELECT n FROM kinds ORDER BY n, i
SELECT m * 1.5, m / 3, m + n FROM kinds WHERE i > 0 AND i < 100 ORDER BY i
SELECT d FROM kinds ORDER BY d
SELECT f FROM kinds ORDER BY f DESC
SELECT iv FROM kinds ORDER BY iv, i
SELECT c, c || '|', c = 'a', length(c), octet_length(c) FROM kinds ORDER BY i
SELECT ts, ts + interval '1 day' FROM kinds WHERE i BETWEEN 2 AND 3 OR i < -5 ORDER BY i
SELECT ts FROM kinds ORDER BY ts
SELECT tz FROM kinds ORDER BY tz DESC
SELECT da FROM kinds ORDER BY da DESC
SELECT u FROM kinds WHERE i <> 1 ORDER BY u
SELECT y, length(y) FROM kinds ORDER BY y
SELECT t FROM kinds ORDER BY t
SELECT b, count(*) FROM kinds GROUP BY b ORDER BY b
SELECT n FROM kinds WHERE n = 1.1 ORDER BY i
SELECT i FROM kinds WHERE u = '00112233-4455-6677-8899-AABBCCDDEEFF'
SELECT i FROM kinds WHERE ts > '2000-01-01' ORDER BY i
SELECT i, l::text, n::text, d::text, f::text, ts::text, iv::text, b::text, da::text, m::text, y::text FROM kinds ORDER BY i
SELECT DISTINCT iv FROM kinds WHERE i IN (0, 2147483647) LIMIT 0
SELECT j, jb FROM kinds ORDER BY i
SELECT jb->'b', jb->>'a', jb->'b'->0, jb->'b'->>2, jb->'b'->-1, jb->'nosuch', j->'a', j->>'a' FROM kinds ORDER BY i
SELECT jb = '{"a":1.0,"b":[1,null,"x"]}', jb = '1' FROM kinds ORDER BY i
SELECT jsonb_typeof(jb), json_typeof(j) FROM kinds ORDER BY i
SELECT '{"b":1,"a":2,"b":3}'::jsonb, '{"a": 1}'::json, '[1,2]'::jsonb ? 'a', '{"a":1}'::jsonb ? 'a', ('{"n":1.50}'::jsonb->'n')::numeric, '{"a":1}'::jsonb::text, jsonb_array_length('[1,2,3]')
SELECT '{bad'::json
SELECT i FROM kinds ORDER BY j
SELECT DISTINCT j FROM kinds
-- Odds and ends.
SELECT pg_catalog.upper('a'), 1 OPERATOR(pg_catalog.+) 2, 'a' COLLATE "C" < 'B'
SELECT pg_typeof(1), pg_typeof(1.5), pg_typeof('a'::text), pg_typeof(now()), pg_typeof(sum(id)), pg_typeof(avg(id)) FROM emp
SELECT current_database(), current_schema(), pg_is_in_recovery(), session_user, user
SELECT now() = now(), now() = current_timestamp, localtimestamp = now()::timestamp, now() - now()
SELECT random() < 1, gen_random_uuid() <> gen_random_uuid()
SELECT count(*) FROM emp a, emp b WHERE a.id < b.id
SELECT a.id FROM emp a, (SELECT id FROM dept) b, LATERAL (SELECT a.id + b.id AS s) c WHERE s = 3 ORDER BY 1
SELECT 1 AS one, 2 AS two ORDER BY two, one
SELECT
SELECT FROM emp
SELECT ALL id FROM emp ORDER BY id
TABLE dept ORDER BY id
SELECT e FROM generate_series(1,2) e ORDER BY 1
SELECT 'it''s', E'a\nb', $$dollar$$, U&'\0061', 'ünï'
SELECT '{v}{1}{r}', 'x)@', ')' || '@f(' || ') UNION ALL ('
SELECT string_agg(name, '{1}@f(' ORDER BY id) FROM emp WHERE id < 3
SELECT trim_scale(n) FROM (SELECT n FROM kinds INTERSECT SELECT 1.1) t
SELECT trim_scale(n) FROM (SELECT n FROM kinds WHERE i BETWEEN 1 AND 3 EXCEPT ALL SELECT 1.10) t ORDER BY n
SELECT count(*) FROM (SELECT d FROM kinds WHERE i = 2147483647 UNION SELECT 0.0::float8) x
SELECT id FROM emp UNION ALL SELECT id FROM dept INTERSECT ALL SELECT 1 ORDER BY 1
SELECT max(d), min(d), max(f) FROM (VALUES (0::float8, '-0'::float4), ('-0', 0)) t(d, f)
SELECT a.i FROM kinds a JOIN kinds b ON a.d = b.d AND a.n = b.n ORDER BY 1
SELECT a.d, b.d FROM kinds a JOIN (SELECT '0'::float8 AS d) b ON a.d = b.d
SELECT id, sum(salary) OVER (), avg(salary) OVER (PARTITION BY ok), max(salary) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM emp ORDER BY id
SELECT id, sum(salary) OVER (ORDER BY ok), min(score) OVER (PARTITION BY dept ORDER BY id DESC) FROM emp ORDER BY id
-- More of the same.
SELECT date '2024-01-01' + '1'
SELECT timestamp '2024-01-01' + '1 day'
SELECT timestamp '2024-01-01' - '2023-01-01'
SELECT '1' + '2'
SELECT 1 - '2'
SELECT 'a' || 'b' || 1
SELECT 1.5 * '2'
SELECT interval '1 day' * '2'
SELECT interval '1 day' * 2, 2 * interval '1 day', interval '1 day' / 2.5
SELECT sum(1), count('x'), avg(2.5), max('a'), min(NULL)
SELECT sum(x) FROM (VALUES (1::int8),(2)) t(x)
SELECT max(x) FROM (VALUES ('a'),('b')) t(x)
SELECT upper(NULL), length(NULL), abs(NULL)
SELECT round('1.5'), round(1.5::float4), round(2), ceil(3)
SELECT substring('abc' from 0), substring('abc' for 2), substr('abc', 2, -1)
SELECT length('abc '::char(10)), 'abc '::char(10) = 'abc', 'x' LIKE 'x  '::char(3), 'abc'::char(5) LIKE 'abc'
SELECT id, CASE dept WHEN 1 THEN salary ELSE 0 END FROM emp ORDER BY id
SELECT id, CASE WHEN dept = 1 THEN 1 WHEN dept = 2 THEN 2.5 END FROM emp ORDER BY id
SELECT * FROM emp WHERE name = 'bob' AND NOT ok
SELECT id FROM emp WHERE note = 'a' ORDER BY id
SELECT id FROM emp WHERE note IN ('a', 'bb ') ORDER BY id
SELECT id FROM emp WHERE note LIKE 'a%' ORDER BY id
SELECT id FROM emp WHERE name ILIKE 'E%' ORDER BY id
SELECT count(*) FROM emp e1 JOIN emp e2 ON e1.note = e2.note
SELECT count(*) FROM emp e1 JOIN emp e2 ON e1.salary = e2.salary
SELECT d.*, e.name FROM dept d LEFT JOIN emp e ON e.dept = d.id AND e.salary > 1000 ORDER BY d.id, e.id
SELECT min(id), max(id) FROM (SELECT id FROM emp ORDER BY id LIMIT 3) x
SELECT x.* FROM emp e, LATERAL (VALUES (e.id), (e.id * 2)) x(v) WHERE e.id < 3 ORDER BY 1
SELECT (SELECT max(b.id) FROM emp b WHERE b.dept = e.dept) FROM emp e GROUP BY e.dept ORDER BY 1
SELECT dept, (SELECT d.name FROM dept d WHERE d.id = emp.dept) FROM emp GROUP BY dept ORDER BY dept
SELECT dept, count(*) FROM emp GROUP BY dept ORDER BY 2 DESC, 1 LIMIT 2
SELECT dept FROM emp GROUP BY dept HAVING avg(salary) > 1000 ORDER BY dept
SELECT e.dept, d.name, count(*) FROM emp e JOIN dept d ON d.id = e.dept GROUP BY e.dept, d.name ORDER BY 1
SELECT date_trunc('year', hired::timestamp) AS y, count(*) FROM emp GROUP BY 1 ORDER BY 1
SELECT extract(year from hired) AS y, count(*) FROM emp GROUP BY y ORDER BY y
SELECT count(*) c FROM emp GROUP BY c
SELECT count(*) FROM emp GROUP BY 1
SELECT count(*) FROM emp GROUP BY ok ORDER BY ok
SELECT emp.dept FROM emp GROUP BY name
SELECT *, count(*) FROM dept GROUP BY id ORDER BY id
SELECT count(id) OVER () FROM emp WHERE sum(id) OVER () > 1
SELECT sum(sum(id)) OVER () FROM emp
SELECT id FROM emp ORDER BY count(*) OVER (), id
SELECT row_number() OVER w, id FROM emp WINDOW w AS (PARTITION BY dept ORDER BY id DESC) ORDER BY id
SELECT id, lag(salary, 1, 0) OVER (ORDER BY id) FROM emp ORDER BY id
SELECT nosuch() OVER () FROM emp
SELECT upper(name) OVER () FROM emp
SELECT lag(1)
SELECT sum(DISTINCT id), count(DISTINCT note), avg(DISTINCT dept) FROM emp
SELECT id FROM emp UNION ALL SELECT budget FROM dept ORDER BY 1
SELECT id, name FROM emp UNION SELECT id, name FROM dept ORDER BY 2, 1
SELECT id AS a FROM emp UNION SELECT id FROM dept ORDER BY a DESC LIMIT 2
SELECT id FROM emp UNION SELECT id FROM dept ORDER BY id + 1
SELECT id FROM emp UNION SELECT id FROM dept ORDER BY nosuch
WITH a AS (SELECT 1 AS x), a AS (SELECT 2) SELECT * FROM a
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n * 1.5 FROM r WHERE n < 5) SELECT * FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r ORDER BY n DESC
WITH t AS (SELECT * FROM emp) SELECT t.id FROM t WHERE t.salary = (SELECT max(salary) FROM t)
SELECT * FROM emp e1 WHERE e1.id = (WITH m AS (SELECT max(id) AS i FROM emp) SELECT i FROM m)
SELECT name FROM (SELECT name, 1 AS o FROM dept UNION ALL SELECT name, 2 FROM emp) u ORDER BY o, name
SELECT 1 AS a, 2 AS a ORDER BY a
SELECT id AS name, name FROM emp ORDER BY name LIMIT 2
SELECT u.id FROM (SELECT id, id FROM emp) u
SELECT * FROM (SELECT id, id FROM dept) u ORDER BY 1
SELECT * FROM emp a JOIN dept b ON a.dept = b.id AND b.nosuch = 1
SELECT a.id FROM emp a JOIN dept b ON c.id = 1
SELECT * FROM emp, dept WHERE emp.dept = dept.id AND dept.budget > 5000 ORDER BY emp.id
SELECT id FROM emp WHERE id IN (SELECT boss FROM emp) AND dept IS NOT NULL ORDER BY id
SELECT id FROM emp WHERE (dept, salary) = (1, 900)
SELECT id FROM emp WHERE ROW(dept, id) < ROW(2, 0) ORDER BY id
SELECT id FROM emp WHERE hired BETWEEN '2020-01-01' AND '2020-12-31' ORDER BY id
SELECT id FROM emp WHERE hired + 365 > date '2021-01-01' ORDER BY id
SELECT id FROM emp WHERE extract(year from hired) = 2020 ORDER BY id
SELECT hired::text, hired::timestamp, hired::timestamptz FROM emp ORDER BY id
SELECT id FROM emp WHERE score = 'NaN' OR score > 1e10 ORDER BY id
SELECT id FROM emp WHERE ok IS NOT TRUE ORDER BY id
SELECT id FROM emp WHERE id = '3'
SELECT id FROM emp WHERE id = '3x'
SELECT id FROM emp WHERE id = 3.0
SELECT id FROM emp WHERE id = 3.5
SELECT id FROM emp WHERE salary = '1200.5' ORDER BY id
SELECT id FROM emp WHERE id = name
SELECT id FROM emp WHERE hired = 'not a date'
SELECT id FROM emp WHERE 1 = 1 LIMIT 0
SELECT id FROM emp ORDER BY id LIMIT (SELECT NULL::int)
SELECT id FROM emp LIMIT 'x'
SELECT id FROM emp LIMIT id
SELECT 10 / 3 * 3, 10 % 3, -10 / 3, 10 / -3, 2 ^ 3 ^ 2, - 2 ^ 2
SELECT 1::numeric / 3 * 3, 10.0 / 4, 1e-10 / 3, 100000000000::numeric / 7, 0.1 / 0.3, 123456789.123 / 0.00001
SELECT 1.0 * 1.00, 1.0 + 1.000, 5.55 % 2.2, -5.55 % 2.2, 0.0 / 5
SELECT avg(x) FROM (VALUES (1.1::numeric),(2.2)) t(x)
SELECT avg(x), sum(x), stddev(x), var_pop(x) FROM (VALUES (1.10),(2.2),(3.333)) t(x)
SELECT avg(id), avg(id::int8), avg(id::int2), avg(id::float8), avg(id::float4), sum(id::float4) FROM emp
SELECT sum(x) FROM (VALUES (9223372036854775807),(9223372036854775807)) t(x)
SELECT sum(x::int) FROM (VALUES (2147483647),(2147483647)) t(x)
SELECT 0.1::float4, 1.1::float4::float8, 16777217::float4, 1e-45::float4, 123456789::float4
SELECT 1e400::float8
SELECT '1e400'::float8
SELECT 1e40::float4
SELECT 'x'::numeric
SELECT '1.5'::int
SELECT '99999999999'::int
SELECT '40000'::smallint
SELECT 40000::smallint
SELECT 'maybe'::bool
SELECT 'zz'::uuid
SELECT '12:60'::time
SELECT '2024-13-01'::date
SELECT 'abc'::interval
SELECT '\xzz'::bytea
SELECT true::float8
SELECT 1::date
SELECT now()::int
SELECT '1 day'::interval::int
SELECT date '2024-01-01' < '2024-01-02', '2024-01-01' < date '2024-01-02'
SELECT current_date - 1 < current_date, current_timestamp(0) <= now() + interval '1 second', localtime = localtime
SELECT overlay('abcdef' placing 'xx' from 2)
SELECT 1 IS DISTINCT FROM 'a'::text
SELECT nullif(1, 'a')
SELECT coalesce(NULL, NULL), CASE WHEN true THEN NULL END, greatest(NULL, NULL)
SELECT least('b', 'a'), greatest(1, 2.5), greatest('2020-01-01', date '2019-01-01')
SELECT greatest(1, 'x')
SELECT NOT 1
SELECT -true
SELECT 1 AND 2
SELECT 'a' AND true
SELECT e.id, e.* FROM dept e ORDER BY 1
SELECT dept.* FROM dept, emp WHERE emp.id = 1 AND dept.id = 1
SELECT nosuch.* FROM emp
SELECT *
SELECT count(nosuch) FROM emp
SELECT name FROM emp GROUP BY nosuch
SELECT id FROM emp HAVING id > 1
SELECT id, sum(id) FROM emp
SELECT sum(id) + id FROM emp GROUP BY dept
SELECT emp.id FROM public.emp ORDER BY id LIMIT 1
SELECT public.emp.id FROM public.emp ORDER BY 1 LIMIT 1
SELECT * FROM nosuch.emp
SELECT string_agg(name, ', ') FROM emp WHERE false
SELECT string_agg(DISTINCT ok::text, ',' ORDER BY ok::text) FROM emp
SELECT bit_and(id), bit_or(id) FROM emp
SELECT count(*) FILTER (WHERE id > 2) * 2 FROM emp
SELECT sum(id) FILTER (WHERE 1) FROM emp
SELECT 1 FROM emp WHERE EXISTS (SELECT nosuch FROM dept)
SELECT id FROM emp WHERE id > ANY (SELECT id, 1 FROM dept)
SELECT id FROM emp e WHERE salary = (SELECT max(salary) FROM emp WHERE dept = e.dept) ORDER BY id
SELECT to_char(now(), 'YYYY') = extract(year from now())::text
SELECT to_char(timestamp '2024-01-02 00:05:06', 'HH:MI:SS AM'), to_char(timestamp '2024-12-25', 'DDDth Day FMDay, FMDDth "of" FMMonth YYYY'), to_char(timestamp '0044-03-15 BC', 'YYYY BC')
SELECT f FROM generate_series(1, 3) AS f WHERE f > 1 ORDER BY 1
SELECT a, b FROM generate_series(1, 2) a, generate_series(a, 2) b ORDER BY 1, 2
SELECT * FROM generate_series(1, 10, 4) ORDER BY 1
SELECT * FROM generate_series(1.5, 3)
SELECT * FROM generate_series('a', 'b')
SELECT s.i FROM generate_series(1,2) s(i,j)
SELECT * FROM upper('x') u
SELECT sum(i) FROM generate_series(-3, 3) i
SELECT cbrt(27.0), exp(0::float8), power(9, 0.5::float8), sign(0.0), 5 % -3
SELECT power(0::float8, -1)
SELECT power(-8::float8, 0.5)
SELECT ln(-1::float8)
SELECT exp(1000::float8)
SELECT asin(2::float8)
SELECT substring('abc', 1, -1)
SELECT repeat('x', -1), lpad('x', -1), left('x', 0), split_part('a', '', 1), replace('a', '', 'b')
SELECT split_part('a', ',', 0)
SELECT 'abc' LIKE 'abc\'
SELECT encode('a', 'nosuch')
SELECT decode('zz', 'hex')
SELECT date_trunc('nosuch', now())
SELECT extract(nosuch from now())
SELECT now() AT TIME ZONE 'nosuch'
SELECT current_setting('nosuch.nosuch')
SELECT 'ünï' || 1/0
SELECT 'ünï' || nosuch
SELECT id, name FROM emp ORDER BY length(name), name DESC
SELECT name, salary FROM emp WHERE salary IS NOT NULL ORDER BY salary DESC, name LIMIT 3
SELECT DISTINCT salary FROM emp WHERE salary < 1000 ORDER BY salary
SELECT DISTINCT ON (ok) ok, id FROM emp ORDER BY ok, id
SELECT DISTINCT ON (ok) ok, id FROM emp ORDER BY id
SELECT DISTINCT upper(name) FROM emp ORDER BY upper(name)
SELECT DISTINCT id % 2 AS p FROM emp ORDER BY p
SELECT DISTINCT dept, count(*) FROM emp GROUP BY dept ORDER BY count(*), dept
SELECT * FROM generate_series(3, 1.5, -0.5) ORDER BY 1
SELECT generate_series(1.0, 2, 0.50)
SELECT date '2024-01-01' + NULL::int, date '2024-01-01' - '2023-12-31', time '10:00' - '09:00'
SELECT count(*) FROM generate_series(0, 10000) x WHERE x % 100 <> 0 AND 1000 / (x % 100) > 20
SELECT count(*) FROM generate_series(0, 10000) x WHERE x % 100 = 0 OR 1000 / (x % 100) > 20
SELECT count(*) FROM (VALUES ('1'),('x'),('22')) v(t) WHERE t ~ '^[0-9]+$' AND t::int > 1
SELECT CASE WHEN x = 0 THEN 0 ELSE 10 / x END FROM generate_series(0, 5) x ORDER BY 1

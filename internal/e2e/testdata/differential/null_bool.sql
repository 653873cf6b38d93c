SELECT greatest('NaN'::float8, 1)
SELECT array_agg(x order by x) from (values (2),(NULL),(1)) t(x)
SELECT array_agg(x order by x desc) from (values (2),(NULL),(1)) t(x)
SELECT string_agg(coalesce(x::text,'n'),',' order by x desc) from (values (2),(NULL),(1)) t(x)
SELECT (1,NULL) = (1,NULL)
SELECT (1,2) < (1,NULL)
SELECT max(x) from (values (true),(false)) t(x)
SELECT true AND NULL, NULL AND NULL, false OR NULL, NOT NULL, true = NULL, NULL = NULL, NULL <> NULL, NULL IS DISTINCT FROM NULL, 1 IS DISTINCT FROM NULL
SELECT NULL IS NULL, 1 IS NULL, NULL ISNULL, 1 NOTNULL, (NULL, NULL) IS NULL, (1, NULL) IS NULL, (1, NULL) IS NOT NULL, ROW(1, 2) IS NOT NULL
SELECT true IS TRUE, false IS TRUE, NULL IS TRUE, NULL IS NOT FALSE, NULL IS UNKNOWN, true IS NOT UNKNOWN
SELECT 't'::bool, 'true'::bool, 'yes'::bool, 'on'::bool, '1'::bool, 'f'::bool, 'no'::bool, 'off'::bool, '0'::bool, ' TRUE '::bool, 'tr'::bool, 'of'::bool
SELECT 'o'::bool
SELECT 'x'::bool
SELECT 2::bool, 0::bool, true::int, false::text, true::varchar, 'true'::text::bool
SELECT 1.5::bool
SELECT true < false, true > false, true = 't', false <> 'f', true IN (true, NULL), false IN (true, NULL)
SELECT coalesce(NULL, NULL, 3), coalesce(NULL, 'a', 'b'), nullif(1, 1), nullif(1, 2), nullif('a', 'b'), coalesce(NULL::int, 2.5), nullif(1.0, 1)
SELECT greatest(1, 2, NULL), least(NULL, NULL::int), greatest('a', 'b'), least(date '2024-01-01', '2023-01-01'), greatest(true, false)
SELECT CASE WHEN NULL THEN 1 ELSE 2 END, CASE NULL WHEN NULL THEN 1 ELSE 2 END, CASE 1 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, CASE WHEN true THEN 1 WHEN 1/0 = 1 THEN 2 END
SELECT CASE 1 WHEN 'a' THEN 1 END
SELECT CASE WHEN 1 THEN 2 END
SELECT NOT true, NOT NULL::bool, NOT (true AND false), true AND NOT false OR false
SELECT NOT 1
SELECT 1 AND true
SELECT ok, NOT ok, ok AND true, ok OR false, ok IS TRUE, ok::text, ok::int FROM g ORDER BY id
SELECT bool_and(ok), bool_or(ok), every(ok), count(ok), count(*) FROM g
SELECT bool_and(ok), bool_or(ok) FROM g WHERE false
SELECT ok, count(*) FROM g GROUP BY ok ORDER BY ok
SELECT id FROM g WHERE ok ORDER BY id
SELECT id FROM g WHERE NOT ok ORDER BY id
SELECT id FROM g WHERE ok IS NULL ORDER BY id
SELECT id FROM g WHERE a = NULL
SELECT id FROM g WHERE a <> 'x' ORDER BY id
SELECT id FROM g WHERE a NOT IN ('x', NULL)
SELECT id FROM g WHERE b IN (1, NULL) ORDER BY id
SELECT id, b FROM g ORDER BY b NULLS FIRST, id
SELECT id, b FROM g ORDER BY b DESC NULLS LAST, id
SELECT sum(NULL::int), avg(NULL::int), count(NULL), max(NULL::text)
SELECT num_nulls(NULL, 1), num_nonnulls(NULL, 1)
SELECT (1, 2) = (1, 2), (1, 2) <> (1, 3), (1, 2) > (1, 1), (1, NULL) <> (2, NULL), (1, 'a') < (1, 'b'), ROW(1) = ROW(1), (2, NULL) > (1, NULL), (NULL, 1) = (NULL, 2)
SELECT (1, 2) = (1, 2, 3)
SELECT (1, 2) IS DISTINCT FROM (1, NULL), (1, NULL) IS NOT DISTINCT FROM (1, NULL)
SELECT (1, 2) IN ((1, 2), (3, 4)), (1, NULL) IN ((1, 2)), (5, 5) NOT IN ((1, 2))
SELECT count(*) from (values ('1')) a(x) join (values (1)) b(x) on a.x=b.x
SELECT NULL::int IS NULL AND NULL::text IS NULL, pg_typeof(NULL), pg_typeof(NULL::int)
SELECT true::smallint
SELECT true + true

-- One statement a line. Literals, constructors, casts.
SELECT '{1,2}'::int[], '{}'::int[], '{NULL,1}'::int[], '{a,"b c",NULL,"null"}'::text[], '{{1,2},{3,4}}'::int[], '[2:3]={7,8}'::int[]
SELECT ARRAY[1,2,3], ARRAY['a','b'], ARRAY[1,2.5], ARRAY[NULL,1], ARRAY[true,false], ARRAY[1::bigint,2], ARRAY[NULL]
SELECT ARRAY[]
SELECT ARRAY[]::int[], ARRAY[]::text[], ARRAY['1','2']::int[], ARRAY[1,2]::text[], ARRAY[ARRAY[1,2],ARRAY[3,4]], ARRAY[[1,2],[3,4]]
SELECT ARRAY[[1,2],[3]]
SELECT ARRAY[ARRAY[]::int[], ARRAY[]::int[]], ARRAY[[1],[2.5]], ARRAY[['a'],[NULL]]
SELECT ARRAY[1,'x']
SELECT ARRAY[1, true]
SELECT ARRAY[date '2020-01-01', '2021-02-03'], ARRAY[interval '1 day'], ARRAY['\x01'::bytea], ARRAY['a'::char(3)], ARRAY[1.5::float8, 2]
SELECT '{1,2'::int[]
SELECT '{1,x}'::int[]
SELECT '1,2'::int[]
SELECT '{{1,2},{3}}'::int[]
SELECT '{1.5,2.25}'::numeric[], '{1.5,2.25}'::numeric(3,1)[], '{abcd,e}'::varchar(2)[], '{t,f}'::bool[], '{2020-01-01}'::date[]
SELECT '{1,2}'::int[]::text, ARRAY['a b','c,d','"']::text, '{1,2}'::text::int[], '{1,2}'::int[]::bigint[], '{1.5,2.5}'::numeric[]::int[], '{1,2}'::int[]::text[]
SELECT '{1,2}'::text[]::int[], '{x}'::text[]::varchar(1)[], '{{1,2},{3,4}}'::int[]::float8[], ARRAY[1,2]::numeric(5,2)[]
SELECT '{x}'::text[]::int[]
SELECT 1::int[]
SELECT ARRAY[1]::int
SELECT ARRAY[1]::date[]
SELECT pg_typeof(ARRAY[1,2]), pg_typeof('{}'::text[]), pg_typeof(ARRAY[1.5]), pg_typeof(ARRAY['a'::varchar(3)]), pg_typeof(ARRAY[[1]])
SELECT i, t, n, d, f, b, v, ts, l FROM arr ORDER BY id
SELECT i::text, t::text, n::text, d::text, f::text FROM arr ORDER BY id
SELECT i::bigint[], i::text[], n::text[], l::numeric[], f::numeric[] FROM arr WHERE id IN (2,3,5) ORDER BY id
SELECT CAST(NULL AS int[]), NULL::text[], '{}'::int[] IS NULL, ARRAY[1] IS NOT NULL
SELECT CASE WHEN true THEN ARRAY[1] ELSE '{2}' END, coalesce(NULL, ARRAY[1]), coalesce('{3}', ARRAY[1]), nullif(ARRAY[1], '{1}'), greatest(ARRAY[1,2], ARRAY[1,3]), least(ARRAY[1], '{}')
SELECT CASE WHEN true THEN ARRAY[1] ELSE ARRAY['x'] END
SELECT CASE WHEN true THEN ARRAY[1] ELSE 1 END
SELECT CASE WHEN true THEN ARRAY[1] ELSE ARRAY[2.5] END
-- Subscripts and slices.
SELECT (ARRAY[1,2,3])[1], (ARRAY[1,2,3])[4], (ARRAY[1,2,3])[0], (ARRAY[1,2,3])[NULL], ('{{1,2},{3,4}}'::int[])[2][1], ('{{1,2},{3,4}}'::int[])[1]
SELECT (ARRAY[1,2,3])[2:3], (ARRAY[1,2,3])[:2], (ARRAY[1,2,3])[2:], (ARRAY[1,2,3])[:], (ARRAY[1,2,3])[3:2], (ARRAY[1,2,3])[0:9], (ARRAY[1,2,3])[NULL:2]
SELECT ('{{1,2,3},{4,5,6}}'::int[])[1:2][2:3], ('{{1,2,3},{4,5,6}}'::int[])[2:2], ('{{1,2,3},{4,5,6}}'::int[])[1:2][2], ('[0:2]={7,8,9}'::int[])[0], ('[0:2]={7,8,9}'::int[])[1:]
SELECT id, i[1], t[2], n[1], i[1:2], t[-1], i[2][1], arr.l[1] FROM arr ORDER BY id
SELECT (ARRAY[1,2])['1'], (ARRAY[1,2])['x']
SELECT (ARRAY[1,2])[1.4], (ARRAY[1,2])[true]
SELECT (1)[1]
SELECT id FROM arr WHERE i[1] = 1 ORDER BY i[2], id
SELECT (ARRAY[[1,2],[3,4]])[1:1][1:1], (ARRAY[[1,2],[3,4]])[5:6]
-- Concatenation.
SELECT ARRAY[1,2] || ARRAY[3], ARRAY[1,2] || 3, 0 || ARRAY[1], ARRAY[1] || NULL, NULL || ARRAY[1], ARRAY[1] || '{2,3}', ARRAY[1,2] || 2.5
SELECT ARRAY['a'] || 'b'
SELECT ARRAY['a'] || 'b'::text, 'a'::text || ARRAY['b'], ARRAY[[1,2]] || ARRAY[3,4], ARRAY[1,2] || ARRAY[[3,4]], ARRAY[]::int[] || ARRAY[1], ARRAY[]::int[] || 1
SELECT ARRAY[1] || ARRAY[[1,2],[3,4]]
SELECT ARRAY[[1,2]] || ARRAY[[1]]
SELECT ARRAY[1] || ARRAY['a']
SELECT ARRAY[[1,2]] || 3
SELECT i || 9, 0 || i, i || i, t || 'z'::text FROM arr WHERE id IN (1,2,3,4,6) ORDER BY id
SELECT ARRAY[1::bigint] || 2, pg_typeof(ARRAY[1] || 2::bigint), pg_typeof(1.5 || ARRAY[1])
-- Comparison.
SELECT ARRAY[1,2] = ARRAY[1,2], ARRAY[1,2] = '{1,2}', ARRAY[1,2] <> ARRAY[2,1], ARRAY[1,2] < ARRAY[1,3], ARRAY[1,2] < ARRAY[1,2,0], ARRAY[2] > ARRAY[1,9], '{}'::int[] < ARRAY[1]
SELECT ARRAY[1,NULL] = ARRAY[1,NULL], ARRAY[1,NULL] < ARRAY[1,2], ARRAY[NULL::int] > ARRAY[1], ARRAY[1.0] = ARRAY[1.00], '[0:0]={1}'::int[] = ARRAY[1], ARRAY[[1,2]] = ARRAY[1,2], ARRAY[[1,2]] > ARRAY[1,2]
SELECT ARRAY[1] = ARRAY[1::bigint]
SELECT ARRAY[1] = 1
SELECT ARRAY['a'] = ARRAY['a'::varchar]
SELECT ARRAY['1'::json] = ARRAY['1'::json]
SELECT id FROM arr ORDER BY i, id
SELECT id FROM arr ORDER BY n DESC, id
SELECT id FROM arr ORDER BY t NULLS FIRST, id
SELECT n, count(*) FROM arr GROUP BY n ORDER BY n
SELECT DISTINCT i FROM arr ORDER BY i
SELECT DISTINCT ON (i) i, id FROM arr ORDER BY i, id
SELECT a.id, b.id FROM arr a JOIN arr b ON a.i = b.i ORDER BY 1, 2
SELECT a.id, b.id FROM arr a JOIN arr b USING (n) ORDER BY 1, 2
SELECT i FROM arr WHERE i IN (ARRAY[1,2,3], '{}') ORDER BY id
SELECT i FROM arr WHERE i BETWEEN '{1}' AND '{1,2,9}' ORDER BY id
SELECT i FROM arr UNION SELECT ARRAY[1,2,3] ORDER BY 1
SELECT i FROM arr EXCEPT SELECT '{1,2,3}' ORDER BY 1
SELECT min(i), max(i), min(t), max(n), count(i), count(DISTINCT i) FROM arr
SELECT i IS DISTINCT FROM '{1,2,3}', i IS NOT DISTINCT FROM NULL FROM arr ORDER BY id
SELECT id, row_number() OVER (PARTITION BY i ORDER BY id) FROM arr ORDER BY id
SELECT id, first_value(i) OVER (ORDER BY id), lag(t) OVER (ORDER BY id) FROM arr ORDER BY id
-- Containment.
SELECT ARRAY[1,2,3] @> ARRAY[2], ARRAY[1] @> ARRAY[1,1], ARRAY[1] <@ ARRAY[1,2], ARRAY[1,2] && ARRAY[2,3], ARRAY[1] && '{}', '{}'::int[] <@ ARRAY[1], ARRAY[1] @> '{}', ARRAY[NULL::int] @> ARRAY[NULL::int]
SELECT ARRAY[1] @> ARRAY[1::bigint]
SELECT ARRAY[1] && 1
SELECT id FROM arr WHERE i @> '{2}' ORDER BY id
SELECT id FROM arr WHERE t && ARRAY['a','zz'] ORDER BY id
SELECT ARRAY[1.0] @> ARRAY[1.00], ARRAY['a'] <@ ARRAY['b','a'], ARRAY[[1,2],[3,4]] @> ARRAY[3]
-- ANY and ALL.
SELECT 1 = ANY(ARRAY[1,2]), 3 = ANY('{1,2}'::int[]), NULL = ANY(ARRAY[1]), 1 = ANY('{}'::int[]), 1 = ANY(NULL::int[]), 1 = ANY(ARRAY[2,NULL]), 1 = ANY(ARRAY[1,NULL])
SELECT 1 <> ALL(ARRAY[2,3]), 1 <> ALL(ARRAY[1,2]), 1 <> ALL(ARRAY[2,NULL]), 1 <> ALL('{}'::int[]), 5 > ALL(ARRAY[1,2]), 5 > ANY(ARRAY[7,2]), 1 < ALL(ARRAY[2,NULL])
SELECT id FROM arr WHERE 2 = ANY(i) ORDER BY id
SELECT id FROM arr WHERE 2 = ANY(l) ORDER BY id
SELECT id, 1 = ANY(i), 1 <> ALL(i), 2 > ANY(i), 2 < ALL(i), 1.0 = ANY(n), 'a' = ANY(t), 'a%' LIKE ANY(t), NULL = ANY(i) FROM arr ORDER BY id
SELECT id, id = ANY(i), id = ANY(l), id::numeric = ANY(n), id <> ANY(i), id = ALL(i) FROM arr ORDER BY id
SELECT 'abc' LIKE ANY(ARRAY['a%','b%']), 'abc' NOT LIKE ALL(ARRAY['x%','y%']), 'abc' ~ ANY('{^a,^b}'), 'x' ILIKE ANY(ARRAY['X'])
SELECT 1 = ANY(2)
SELECT 1 = ANY(ARRAY['a'])
SELECT 1 + ANY(ARRAY[1])
SELECT 1 = ANY('{{1,2},{3,4}}'::int[]), 5 = ANY(ARRAY[[1,2],[3,4]]), 1 = ANY('{1,x}')
SELECT id FROM arr WHERE id = ANY(ARRAY(SELECT id FROM arr WHERE id > 4)) ORDER BY id
SELECT 'a'::char(3) = ANY(ARRAY['a ','b']), 1.5::float8 = ANY(ARRAY[1.5]), date '2020-01-01' = ANY('{2020-01-01}'), timestamp '2020-01-01' = ANY(ARRAY[date '2020-01-01'])
-- Functions.
SELECT array_length(ARRAY[1,2],1), array_length(ARRAY[1,2],2), array_length('{}'::int[],1), array_length(ARRAY[[1,2,3]],2), array_upper(ARRAY[1,2],1), array_lower('[0:1]={1,2}'::int[],1), array_ndims(ARRAY[[1]]), array_ndims('{}'::int[]), array_dims(ARRAY[[1,2]]), cardinality(ARRAY[[1,2],[3,4]]), cardinality('{}'::int[])
SELECT array_length(i,1), array_upper(i,1), array_lower(i,1), array_ndims(i), array_dims(t), cardinality(n) FROM arr ORDER BY id
SELECT array_append(ARRAY[1],2), array_append(NULL::int[],1), array_append(ARRAY[1],NULL), array_prepend(0,ARRAY[1]), array_prepend(NULL,'{1}'::int[]), array_cat(ARRAY[1],ARRAY[2]), array_append(ARRAY[1],2.5), array_prepend('a', ARRAY['b'])
SELECT array_append(ARRAY[[1]],2)
SELECT array_append('{1}', 2), array_append('[0:1]={1,2}'::int[], 3), array_prepend(1, '[5:6]={1,2}'::int[])
SELECT array_append('{1}','2')
SELECT array_remove(ARRAY[1,2,1],1), array_remove(ARRAY[1,NULL],NULL), array_remove('{1}'::int[],1), array_replace(ARRAY[1,2,1],1,9), array_replace(ARRAY[1,NULL],NULL,0), array_remove(NULL::int[],1), array_remove(ARRAY[1.0,2],1.00)
SELECT array_remove(ARRAY[[1]],1)
SELECT array_position(ARRAY['a','b','a'],'a'), array_position(ARRAY['a','b','a'],'a',2), array_position(ARRAY[1],2), array_position(ARRAY[1,NULL],NULL), array_positions(ARRAY[1,2,1],1), array_positions(ARRAY[1],5), array_position('[0:1]={5,6}'::int[],5)
SELECT array_position(ARRAY[[1]],1)
SELECT array_position(ARRAY[1],1,NULL)
SELECT array_position(ARRAY['1'::json],'1')
SELECT trim_array(ARRAY[1,2,3],2), trim_array(ARRAY[1],1), trim_array('{}'::int[],0), trim_array(ARRAY[[1,2],[3,4]],1)
SELECT trim_array(ARRAY[1],2)
SELECT trim_array(ARRAY[1],-1)
SELECT array_fill(7,ARRAY[3]), array_fill(0,ARRAY[2,2]), array_fill('a'::text,ARRAY[2],ARRAY[5]), array_fill(NULL::int,ARRAY[2]), array_fill(1,ARRAY[0]), array_fill(1,'{}')
SELECT array_fill(1,NULL)
SELECT array_fill(1,ARRAY[NULL::int])
SELECT string_to_array('a,b,,c',','), string_to_array('abc',NULL), string_to_array('abc',''), string_to_array('','x'), string_to_array(NULL,','), string_to_array('a,b,c',',','b'), string_to_array('a--b','--')
SELECT array_to_string(ARRAY[1,NULL,3],','), array_to_string(ARRAY[1,NULL,3],',','*'), array_to_string('{}'::int[],','), array_to_string(ARRAY[[1,2],[3,4]],' '), array_to_string(ARRAY[true,false],'/'), array_to_string(NULL::int[],','), array_to_string(ARRAY[1],NULL), array_to_string(ARRAY[1.50,'NaN'],';')
SELECT array_to_string(d,','), array_to_string(n,' '), array_to_string(t,'|','-'), array_to_string(f,',') FROM arr ORDER BY id
SELECT regexp_split_to_array('a1b22c','[0-9]+'), regexp_split_to_array('abc',''), regexp_split_to_array('aXbxc','x','i'), regexp_split_to_array('','x'), regexp_split_to_array(',a,',',')
SELECT array_length(1,1)
SELECT array_append(1,2)
SELECT cardinality('{1}')
SELECT array_upper(ARRAY[1])
SELECT array_ndims(NULL)
-- Aggregates.
SELECT array_agg(x ORDER BY x) FROM (VALUES (2),(NULL),(1)) t(x)
SELECT array_agg(x ORDER BY x DESC) FROM (VALUES (2),(NULL),(1)) t(x)
SELECT array_agg(id ORDER BY id), array_agg(id ORDER BY id) FILTER (WHERE id > 3), array_agg(id) FILTER (WHERE id > 99) FROM arr
SELECT array_agg(DISTINCT x), array_agg(DISTINCT x ORDER BY x DESC) FROM (VALUES (2),(NULL),(1),(2)) t(x)
SELECT array_agg(DISTINCT x) FROM (VALUES (1.0),(2.5),(1.0)) t(x)
SELECT array_agg(i ORDER BY id) FROM arr WHERE id IN (1,7)
SELECT array_agg(i) FROM arr WHERE id = 3
SELECT array_agg(i ORDER BY id) FROM arr WHERE id IN (1,2)
SELECT array_agg(i ORDER BY id) FROM arr WHERE id IN (1,5)
SELECT cardinality(i), array_agg(id ORDER BY id DESC) FROM arr GROUP BY 1 ORDER BY 1
SELECT array_agg(t ORDER BY id DESC)::text FROM arr WHERE id = 1
SELECT array_agg('x'), array_agg(NULL), array_agg(1.5), array_agg(date '2020-01-01') FROM arr WHERE id = 1
SELECT array_agg(DISTINCT id ORDER BY name) FROM person
SELECT (array_agg(name ORDER BY id))[1] FROM person
SELECT array_agg(NULL), array_agg(1.5) FROM arr
SELECT array_agg('x'::text), array_agg(NULL::int), array_agg(1.5), array_agg(date '2020-01-01') FROM arr WHERE id = 1
SELECT (array_agg(name ORDER BY id))[2:3], array_to_string(array_agg(name ORDER BY name DESC), ',') FROM person
SELECT id, array_agg(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM person ORDER BY id
SELECT array_agg(id) FROM person WHERE false
SELECT array_agg(id ORDER BY id) = '{1,2,3,4,5}' FROM person
SELECT unnest(array_agg(id ORDER BY id)) FROM person
SELECT array_agg(DISTINCT feels) FROM person
SELECT array_agg(a.n ORDER BY a.n) FROM (SELECT count(*) AS n FROM arr GROUP BY i) a
-- ARRAY(query).
SELECT ARRAY(SELECT id FROM person ORDER BY id), ARRAY(SELECT id FROM person ORDER BY id DESC LIMIT 2), ARRAY(SELECT id FROM person WHERE false), ARRAY(SELECT 1.5), ARRAY(VALUES (1),(2)), ARRAY(SELECT 'x')
SELECT ARRAY(SELECT name FROM person ORDER BY feels DESC NULLS LAST, id), ARRAY(SELECT DISTINCT feels FROM person ORDER BY feels), ARRAY(SELECT id FROM person UNION SELECT 9 ORDER BY 1 DESC)
SELECT p.id, ARRAY(SELECT q.id FROM person q WHERE q.id < p.id ORDER BY q.id DESC) FROM person p ORDER BY p.id
SELECT ARRAY(SELECT id, name FROM person)
SELECT ARRAY(SELECT i FROM arr WHERE id IN (1,7) ORDER BY id)
-- Sets.
SELECT unnest(ARRAY[1,2,3])
SELECT unnest('{a,NULL,c}'::text[]), 1
SELECT unnest(ARRAY[1,2]), unnest(ARRAY['a','b','c'])
SELECT id, unnest(i) FROM arr ORDER BY 1, 2
SELECT id, unnest(i) AS x FROM arr ORDER BY x DESC, id LIMIT 4
SELECT DISTINCT unnest(i) FROM arr ORDER BY 1
SELECT DISTINCT unnest(n) FROM arr ORDER BY 1
SELECT unnest(ARRAY[1,2]) + 10 AS y ORDER BY y DESC
SELECT upper(unnest(t)) FROM arr WHERE id = 1
SELECT * FROM unnest(ARRAY[1,2,3])
SELECT * FROM unnest(ARRAY[1,2,3]) AS x
SELECT * FROM unnest(ARRAY[1,2,3]) AS u(x) WHERE x > 1
SELECT * FROM unnest(ARRAY['a','b']) WITH ORDINALITY
SELECT * FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS u(x, n) ORDER BY n DESC
SELECT * FROM unnest(ARRAY[1,2],ARRAY['a','b','c'])
SELECT * FROM unnest(ARRAY[1,2],ARRAY['a','b','c']) AS u(x,y)
SELECT * FROM unnest(ARRAY[1,2],ARRAY['a','b','c']) WITH ORDINALITY AS u(x,y,n)
SELECT * FROM ROWS FROM (unnest(ARRAY[1,2]), generate_series(5,7)) AS r(a,b)
SELECT * FROM unnest('{{1,2},{3,4}}'::int[])
SELECT * FROM unnest('{}'::int[])
SELECT * FROM unnest(NULL::int[])
SELECT a.id, u.x FROM arr a, unnest(a.i) AS u(x) ORDER BY 1, 2
SELECT a.id, u.x, u.n FROM arr a CROSS JOIN LATERAL unnest(a.t) WITH ORDINALITY AS u(x,n) ORDER BY 1, 3
SELECT a.id, u.x FROM arr a LEFT JOIN LATERAL unnest(a.i) AS u(x) ON true ORDER BY 1, 2
SELECT a.id, u.x, u.y FROM arr a, unnest(a.i, a.t) AS u(x, y) ORDER BY 1, 2, 3
SELECT x, count(*) FROM arr, unnest(t) AS x GROUP BY x ORDER BY x
SELECT unnest(1)
SELECT unnest('{1}')
SELECT * FROM unnest(1)
SELECT id FROM arr WHERE unnest(i) = 1
SELECT sum(unnest(i)) FROM arr
SELECT generate_subscripts(ARRAY[5,6],1), generate_subscripts('[0:1]={5,6}'::int[],1)
SELECT * FROM generate_subscripts(ARRAY[5,6,7],1) AS s
SELECT * FROM generate_subscripts(ARRAY[5,6,7],1,true) AS s
SELECT generate_subscripts(ARRAY[1],2)
SELECT id, s, i[s] FROM arr, generate_subscripts(i,1) AS s WHERE id IN (1,4,6) ORDER BY 1, 2
SELECT * FROM string_to_table('a,b,c',',')
SELECT string_to_table('a,b,c',',','b')
SELECT * FROM regexp_split_to_table('a1b2c','[0-9]') AS part
SELECT unnest(string_to_array('3,1,2',','))::int AS n ORDER BY n
SELECT * FROM generate_series(1,3) WITH ORDINALITY
SELECT generate_series(1,3), generate_series(1,2)
SELECT x, (SELECT array_agg(y ORDER BY y) FROM unnest(ARRAY[3,1,2]) AS y) FROM generate_series(1,2) AS x ORDER BY x
SELECT * FROM arr a WHERE EXISTS (SELECT 1 FROM unnest(a.i) AS x WHERE x > 4) ORDER BY id
SELECT count(*) FROM unnest(ARRAY[1,2,3]) x WHERE x IN (SELECT unnest(ARRAY[2,3]))
SELECT unnest(t) AS tag, count(*) FROM arr GROUP BY tag ORDER BY tag
SELECT unnest(i) AS x, count(*), sum(id) FROM arr WHERE id < 7 GROUP BY unnest(i) HAVING count(*) >= 1 ORDER BY 1 DESC
SELECT upper(unnest(t)), array_agg(DISTINCT id) FROM arr GROUP BY 1 ORDER BY 1
SELECT unnest(ARRAY[1,1,2]) AS x, count(*) GROUP BY x ORDER BY x
-- Where sets and arrays meet other clauses.
SELECT CASE WHEN true THEN unnest(ARRAY[1]) END
SELECT coalesce(unnest(ARRAY[1]), 2)
SELECT id, row_number() OVER (ORDER BY id DESC), unnest(ARRAY['x','y']) FROM person ORDER BY 1, 3
SELECT id, unnest(ARRAY[id, id * 10]) AS x FROM person ORDER BY x DESC LIMIT 3 OFFSET 1
SELECT DISTINCT ON (id) id, unnest(ARRAY[3,1]) AS x FROM person ORDER BY id, x
SELECT unnest(ARRAY[2,1]) UNION ALL SELECT unnest(ARRAY[4,3]) ORDER BY 1
SELECT x * 2 FROM (SELECT unnest(ARRAY[1,2]) AS x) t ORDER BY 1
SELECT (SELECT unnest(ARRAY[7]))
SELECT p.id FROM person p JOIN arr a ON p.id = ANY(a.i) ORDER BY 1
SELECT p.id FROM person p WHERE p.id = ANY((SELECT i FROM arr WHERE id = 1)::int[]) ORDER BY 1
SELECT p.id FROM person p WHERE p.id > ALL(SELECT unnest(i) FROM arr WHERE id = 1) ORDER BY 1
SELECT p.id, (SELECT count(*) FROM arr a WHERE p.id = ANY(a.l)) FROM person p ORDER BY 1
SELECT p.id, (SELECT count(*) FROM arr a WHERE p.id < ANY(a.i)) FROM person p ORDER BY 1
SELECT count(*) = ANY(ARRAY[5,6]), max(id) < ALL(ARRAY[6,7]) FROM person
SELECT id FROM arr WHERE NOT (1 = ANY(i)) ORDER BY id
SELECT id FROM arr WHERE i = ANY(ARRAY[ARRAY[1,2,3]]) ORDER BY id
SELECT array_agg(x) FILTER (WHERE x > 1) FROM unnest(ARRAY[1,2,3]) AS x
SELECT array_agg(row_to_json(t)::text ORDER BY t.a) FROM (VALUES (1,'x'),(2,'y')) t(a,b)
SELECT a.id, array_agg(x ORDER BY x DESC NULLS LAST) FROM arr a LEFT JOIN unnest(ARRAY[1,2]) x ON x = ANY(a.i) GROUP BY a.id ORDER BY a.id
WITH RECURSIVE path(n, seen) AS (SELECT 1, ARRAY[1] UNION ALL SELECT n + 1, seen || (n + 1) FROM path WHERE n < 4 AND NOT n + 1 = ANY(seen)) SELECT n, seen FROM path ORDER BY n
SELECT i[1:array_length(i,1)-1] FROM arr WHERE id = 1
SELECT t[i[2]] FROM arr WHERE id = 1
SELECT string_agg(x, '-' ORDER BY n) FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS u(x, n)
SELECT array_agg(DISTINCT x ORDER BY x) FROM (VALUES ('b'),('a'),('b')) t(x)
SELECT array(SELECT unnest(i) ORDER BY 1 DESC) FROM arr ORDER BY id
SELECT array_length(regexp_split_to_array('a,b',','), 1), (string_to_array('a b c',' '))[2], cardinality(string_to_array('',','))
SELECT lower(t[1]), t[1] || '!' , i[1] + 1 FROM arr WHERE id = 1
SELECT ARRAY[1,2]::int[] || '{3}'::int[] = '{1,2,3}'::int[], '{1}'::int[] <> '{2}'
SELECT ('{1,2,3}'::int[])[2:], (SELECT ARRAY[5,6])[1], (ARRAY[ARRAY[1],ARRAY[2]])[2][1]
SELECT id FROM arr GROUP BY id HAVING 3 = ANY(i) ORDER BY id
SELECT array_to_string(ARRAY(SELECT name FROM person ORDER BY name DESC LIMIT 2), ', ')
SELECT NULL::int[] || NULL::int[], NULL::int[] || 1, ARRAY[1] || NULL::int

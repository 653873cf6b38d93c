-- Access.
SELECT j -> 'a', j ->> 'a', j -> 'b' -> 'c' -> 2 ->> 'd', j -> 0, j ->> 1, j -> -1, j ->> 'nope' FROM doc ORDER BY id
SELECT s -> 'a', s ->> 'a', s -> 'b' -> 'c' ->> 1, s -> 0, s ->> -1 FROM doc ORDER BY id
SELECT j #> '{b,c,0}', j #>> '{b,c,2,d}', j #> '{}', j #>> '{tags,-1}', j #> '{tags,x}', j #>> ARRAY['b','c'], j #> ARRAY[NULL,'a'] FROM doc ORDER BY id
SELECT s #> '{b,c}', s #>> '{b,c,1}', s #> '{}' FROM doc ORDER BY id
SELECT '{"a":{"b":[10,20]}}'::jsonb #> '{a,b,1}', '{"a":null}'::jsonb #>> '{a}', '[1,[2,3]]'::jsonb #>> '{1,0}', '{"a":"x\"y"}'::jsonb #>> '{a}', '{"1":"one"}'::jsonb #>> '{1}'
SELECT ('{"a":{"b":[1,2]}}'::jsonb)['a']['b'][1], ('[1,2,3]'::jsonb)[0], ('[1,2,3]'::jsonb)[-1], ('{"a":1}'::jsonb)['z'], ('[1]'::jsonb)['x']
SELECT ('[1,2]'::jsonb)[0:1]
SELECT ('[1,2]'::jsonb)[true]
SELECT ('[1,2]'::json)[0]
SELECT jsonb_extract_path(j, 'b', 'c', '1'), jsonb_extract_path_text(j, 'tags', '0'), json_extract_path(s, 'b', 'c'), json_extract_path_text(s, 'a') FROM doc ORDER BY id
SELECT j -> 1.5 FROM doc
SELECT 'x'::text -> 'a'
-- Containment and membership.
SELECT '{"a":1,"b":2}'::jsonb @> '{"a":1}', '{"a":1}'::jsonb @> '{"a":2}', '[1,2,[3,4]]'::jsonb @> '[2,1]', '[1,2,[3,4]]'::jsonb @> '[[4]]', '[1,2]'::jsonb @> '1', '1'::jsonb @> '[1]', '{"a":{"b":1,"c":2}}'::jsonb @> '{"a":{"b":1}}', '{"a":[1,2,2]}'::jsonb @> '{"a":[2,2,1]}', '{}'::jsonb @> '{}', '[]'::jsonb @> '[]'
SELECT '{"a":1}'::jsonb <@ '{"a":1,"b":2}', '1.0'::jsonb @> '1.00', '"x"'::jsonb @> '"x"', '[{"a":1}]'::jsonb @> '[{}]', '{"a":[]}'::jsonb @> '{"a":{}}', 'null'::jsonb @> 'null', '[null]'::jsonb @> '[null]', '["a",["a"]]'::jsonb @> '[["a"]]'
SELECT id FROM doc WHERE j @> '{"a": 1}' ORDER BY id
SELECT id FROM doc WHERE j @> '"two"' ORDER BY id
SELECT j ? 'a', j ? 'two', j ?| ARRAY['x','tags'], j ?& ARRAY['a','b'], j ?| '{}', j ?& '{}' FROM doc ORDER BY id
SELECT '"foo"'::jsonb ? 'foo', '["foo"]'::jsonb ? 'foo', '{"foo":1}'::jsonb ? 'foo', '[["foo"]]'::jsonb ? 'foo', '{"a":1}'::jsonb ?| ARRAY['b',NULL,'a'], '{"a":1}'::jsonb ?& ARRAY['a',NULL]
-- Changing.
SELECT '{"a":1}'::jsonb || '{"b":2}', '{"a":1}'::jsonb || '{"a":9}', '[1]'::jsonb || '[2]', '[1]'::jsonb || '2', '1'::jsonb || '2', '{"a":1}'::jsonb || '[2]', '[2]'::jsonb || '{"a":1}', '{}'::jsonb || '{}', '[]'::jsonb || '{}', '[1]'::jsonb || '{}', '{}'::jsonb || '[]', '[]'::jsonb || '[]', 'null'::jsonb || 'null'
SELECT '{"a":1}'::jsonb || '1'
SELECT '1'::jsonb || '{"a":1}'
SELECT '{"a":1,"b":2}'::jsonb - 'a', '["a","b","a",1]'::jsonb - 'a', '[1,2,3]'::jsonb - 1, '[1,2,3]'::jsonb - -1, '[1,2,3]'::jsonb - 9, '[1]'::jsonb - -5, '{"a":1,"b":2,"c":3}'::jsonb - ARRAY['a','c'], '["a",null]'::jsonb - ARRAY['a',NULL], '{"a":1}'::jsonb - '{}'::text[]
SELECT '1'::jsonb - 'a'
SELECT '{"a":1}'::jsonb - 1
SELECT '"x"'::jsonb - 0
SELECT '1'::jsonb - '{a}'::text[]
SELECT '{"a":{"b":1,"c":2}}'::jsonb #- '{a,b}', '[1,[2,3]]'::jsonb #- '{1,0}', '{"a":1}'::jsonb #- '{x}', '{"a":1}'::jsonb #- '{}', '[1,2]'::jsonb #- '{-1}', '[1,2]'::jsonb #- '{5}', '{"a":1}'::jsonb #- '{a,b}'
SELECT '[1]'::jsonb #- '{x}'
SELECT '1'::jsonb #- '{a}'
SELECT jsonb_set('{"a":1}', '{a}', '2'), jsonb_set('{"a":1}', '{b}', '2'), jsonb_set('{"a":1}', '{b}', '2', false), jsonb_set('{"a":{"b":1}}', '{a,b}', '"x"'), jsonb_set('{"a":{"b":1}}', '{a,c,d}', '1'), jsonb_set('[1,2,3]', '{1}', '9'), jsonb_set('[1,2,3]', '{-1}', '9'), jsonb_set('[1,2,3]', '{5}', '9'), jsonb_set('[1,2,3]', '{-5}', '9'), jsonb_set('[1,2,3]', '{5}', '9', false), jsonb_set('[]', '{0}', '9'), jsonb_set('{}', '{}', '9'), jsonb_set('{"a":1}', '{a,b}', '9')
SELECT jsonb_set('{"a":[1,{"b":2}]}', '{a,1,b}', '[true,null]'), jsonb_set('{"a":1}', NULL, '2'), jsonb_set('{"a":1}', '{a}', NULL)
SELECT jsonb_set('1', '{a}', '2')
SELECT jsonb_set('[1]', '{x}', '2')
SELECT jsonb_set('{"a":1}', ARRAY[NULL], '2')
SELECT jsonb_insert('[1,2]', '{1}', '9'), jsonb_insert('[1,2]', '{1}', '9', true), jsonb_insert('[1,2]', '{-1}', '9'), jsonb_insert('[1,2]', '{9}', '9'), jsonb_insert('{"a":1}', '{b}', '9'), jsonb_insert('{"a":[1]}', '{a,0}', '9'), jsonb_insert('[]', '{0}', '1'), jsonb_insert('[1,2]', '{-9}', '9', true)
SELECT jsonb_insert('{"a":1}', '{a}', '9')
SELECT jsonb_strip_nulls('{"a":null,"b":[null,{"c":null,"d":1}]}'), json_strip_nulls('{"a" : null, "b" : [1, {"x" : null}]}'), jsonb_strip_nulls('null'), jsonb_strip_nulls('[]')
SELECT jsonb_pretty(j) FROM doc ORDER BY id
SELECT jsonb_pretty('{"a":{},"b":[],"c":[1,[2]]}')
-- Order and equality.
SELECT id FROM doc ORDER BY j, id
SELECT id FROM doc ORDER BY j DESC NULLS LAST, id
SELECT '1'::jsonb < '2', '1.0'::jsonb = '1.00', '"a"'::jsonb < '"b"', 'null'::jsonb < '"a"', '"z"'::jsonb < '1', '9'::jsonb < 'false', 'false'::jsonb < 'true', 'true'::jsonb < '[]', '[]'::jsonb < '{}', '[1]'::jsonb < '[0,0]', '{"b":1}'::jsonb < '{"a":1,"b":1}', '{"a":1}'::jsonb < '{"a":2}', '{"a":2}'::jsonb < '{"b":1}', '[]'::jsonb < 'null', '[1]'::jsonb > '1', '[0]'::jsonb > '5'
SELECT v FROM (VALUES ('[]'::jsonb), ('{}'), ('1'), ('"a"'), ('true'), ('false'), ('null'), ('[1]'), ('[1,2]'), ('[[1]]'), ('{"a":1}'), ('{"aa":1}'), ('{"b":0}'), ('-5'), ('1e3'), ('"B"'), ('""'), ('[null]'), ('["a"]'), ('[{}]'), ('{"a":[1]}'), ('{"a":{"b":1}}'), ('{"a":null}')) t(v) ORDER BY v
SELECT v, count(*) FROM (VALUES ('1'::jsonb), ('1.0'), ('{"a":1.50}'), ('{"a":1.5}'), (NULL)) t(v) GROUP BY v ORDER BY v
SELECT DISTINCT j -> 'a' FROM doc ORDER BY 1
SELECT a.id, b.id FROM doc a JOIN doc b ON a.j = b.j ORDER BY 1, 2
SELECT j = '{}', j <> '[]', j IN ('{}', '[]'), j IS DISTINCT FROM 'null' FROM doc ORDER BY id
SELECT greatest('1'::jsonb, '"a"', 'true'), least('1'::jsonb, '"a"', '{}'), nullif('1.0'::jsonb, '1')
SELECT s FROM doc ORDER BY s
SELECT s = s FROM doc
SELECT min(j) FROM doc
SELECT ARRAY['{"a":1}'::jsonb, '2'], ARRAY['1'::jsonb] = ARRAY['1.0'::jsonb], '{"1","{\"a\": 2}"}'::jsonb[], '1' = ANY(ARRAY['1.0'::jsonb])
-- Types, lengths and casts.
SELECT jsonb_typeof(j), json_typeof(s) FROM doc ORDER BY id
SELECT jsonb_array_length('[1,2,[3]]'), json_array_length('[]')
SELECT jsonb_array_length('{}')
SELECT '1'::jsonb::int, '1.7'::jsonb::int, '1.50'::jsonb::numeric, '2'::jsonb::bigint, '3'::jsonb::smallint, '1.5'::jsonb::float8, '1.5'::jsonb::float4, 'true'::jsonb::bool, '"x"'::jsonb::text, '{"a":1}'::jsonb::text, '[1]'::jsonb::json, '{"b":1,  "a":2}'::json::jsonb, '1'::text::jsonb
SELECT '"1"'::jsonb::int
SELECT 'null'::jsonb::int
SELECT '[]'::jsonb::bool
SELECT '1'::json::int
SELECT 1::jsonb
SELECT '{bad'::jsonb
SELECT '123456789012345678901234567890.123456789012345678901234567890'::jsonb, '1e5'::jsonb, '1.10'::jsonb, '-0'::jsonb, '1E-3'::jsonb, '0.00'::jsonb
SELECT (j ->> 'a')::int + 1, (j -> 'a')::int * 2 FROM doc WHERE id = 1
-- Sets.
SELECT * FROM jsonb_array_elements('[1,"a",null,{"b":2}]')
SELECT * FROM jsonb_array_elements('[1,2]') AS e
SELECT e, e.value FROM jsonb_array_elements('[1,2]') AS e
SELECT * FROM jsonb_array_elements('[1,2]') AS e(x)
SELECT * FROM jsonb_array_elements_text('[1,"a",null,[2]]') WITH ORDINALITY AS e(x, n)
SELECT * FROM json_array_elements('[1, {"a" : 2},  "x"]')
SELECT value FROM json_array_elements_text('["a",null]')
SELECT * FROM jsonb_each('{"b":1,"a":[2],"c":null}')
SELECT * FROM jsonb_each_text('{"b":1,"a":"x","c":null}')
SELECT * FROM json_each('{"b":1, "b":2, "a" : {"x" : 1}}')
SELECT key, value FROM json_each_text('{"b":"q","a":null}') AS t
SELECT k, v FROM jsonb_each('{"a":1}') AS t(k, v)
SELECT * FROM jsonb_object_keys('{"b":1,"aa":2,"a":3}')
SELECT json_object_keys('{"b":1,"a":2,"b":3}')
SELECT jsonb_array_elements('[3,1,2]') AS x ORDER BY x
SELECT jsonb_array_elements('[{"a":1},{"a":2}]') ->> 'a' AS a
SELECT id, jsonb_array_elements_text(j -> 'tags') FROM doc ORDER BY 1, 2
SELECT d.id, t.key, t.value FROM doc d, jsonb_each(d.j) t WHERE d.id IN (1, 7) ORDER BY 1, 2
SELECT d.id, e.x ->> 'k' FROM doc d CROSS JOIN LATERAL jsonb_array_elements(d.j) AS e(x) WHERE jsonb_typeof(d.j) = 'array' ORDER BY 1, 2
SELECT sum((e ->> 'n')::int) FROM jsonb_array_elements('[{"n":1},{"n":41}]') AS e
SELECT jsonb_array_elements('{}')
SELECT jsonb_array_elements('1')
SELECT json_array_elements('{}')
SELECT json_array_elements('1')
SELECT jsonb_object_keys('[]')
SELECT jsonb_object_keys('1')
SELECT * FROM jsonb_each('[]')
SELECT * FROM jsonb_each('1')
SELECT * FROM json_each('[]')
SELECT * FROM json_each('1')
SELECT count(*) FROM jsonb_array_elements(NULL)
-- Making.
SELECT to_json(1), to_jsonb(1.50), to_json('x'::text), to_jsonb(true), to_json(NULL::int), to_jsonb(ARRAY[1,NULL]), to_json(ARRAY[[1,2],[3,4]]), to_jsonb('{"a":1}'::json), to_json('a"b'::text), to_jsonb('NaN'::float8), to_json('Infinity'::numeric), to_jsonb(1.5::float4), to_json(ARRAY['a','b c']), to_jsonb('{}'::int[])
SELECT to_json(date '2020-01-02'), to_jsonb(timestamp '2020-01-02 03:04:05.6'), to_json(timestamptz '2020-01-02 03:04:05+00'), to_json(time '01:02'), to_json(interval '1 day 2 hours'), to_json('\x01ff'::bytea), to_json('00112233-4455-6677-8899-aabbccddeeff'::uuid), to_json('infinity'::timestamp), to_json(date 'infinity'), to_json(timestamp '0044-03-15 BC'), to_json('a'::char(3))
SELECT to_jsonb('x')
SELECT json_build_array(1, 'a', NULL, true, 1.50, ARRAY[1,2]), jsonb_build_array(1, 'a', NULL, date '2020-01-01'), json_build_array(), jsonb_build_array(), jsonb_build_array('{"a":1}'::jsonb, '[1]'::json)
SELECT json_build_object('a', 1, 'b', ARRAY[1,2], 'c', NULL), jsonb_build_object('b', 1, 'a', 'x', 1, 2, true, 3, 1.5, 4), json_build_object(), jsonb_build_object(), json_build_object(1, 2, date '2020-01-01', 3)
SELECT jsonb_build_object('a')
SELECT json_build_object('a', 1, 'b')
SELECT jsonb_build_object(NULL, 1)
SELECT json_build_object(NULL, 1)
SELECT jsonb_build_object(ARRAY[1], 1)
SELECT json_object('{a,1,b,2}'), jsonb_object('{{a,1},{b,NULL}}'), json_object('{}')
SELECT json_object('{a}')
SELECT json_object('{NULL,1}')
SELECT json_agg(id ORDER BY id), jsonb_agg(name ORDER BY id DESC), json_agg(feels ORDER BY id) FROM person
SELECT json_agg(past ORDER BY id), jsonb_agg(past ORDER BY id) FROM person
SELECT json_agg(id), jsonb_agg(id), json_object_agg(name, id) FROM person WHERE false
SELECT json_agg(DISTINCT fits), jsonb_agg(DISTINCT feels ORDER BY feels DESC), jsonb_agg(id ORDER BY id) FILTER (WHERE id > 3) FROM person
SELECT json_object_agg(name, id ORDER BY id), jsonb_object_agg(name, feels ORDER BY id) FROM person
SELECT jsonb_object_agg(feels, id ORDER BY id) FROM person
SELECT jsonb_object_agg(feels, id ORDER BY id) FROM person WHERE feels IS NOT NULL
SELECT fits, jsonb_agg(jsonb_build_object('id', id, 'name', name) ORDER BY id) FROM person GROUP BY fits ORDER BY fits
SELECT row_to_json(p) FROM person p ORDER BY id
SELECT to_jsonb(p) FROM person p ORDER BY id
SELECT to_jsonb(a) FROM arr a ORDER BY id
SELECT row_to_json(t) FROM (SELECT 1 AS a, 'x' AS b, NULL AS c) t
SELECT json_agg(p ORDER BY id) FROM person p
SELECT jsonb_agg(t) FROM (SELECT id, name FROM person ORDER BY id LIMIT 2) t
SELECT row_to_json(ROW(1, 'a', NULL)), to_jsonb(ROW(1, 2.50))
SELECT to_jsonb(p.*) FROM person p WHERE id = 1
SELECT p.id, to_jsonb(q) FROM person p LEFT JOIN person q ON q.id = p.id + 3 ORDER BY p.id
SELECT p.id, row_to_json(d) FROM person p LEFT JOIN doc d ON d.id = p.id AND d.id > 4 ORDER BY p.id
SELECT count(p), count(q) FROM person p LEFT JOIN person q ON q.id = p.id + 3
SELECT p FROM nowhere p
SELECT json_agg(x) FROM generate_series(1, 3) AS x
SELECT array_to_json(ARRAY[1,2]), jsonb_array_elements_text(to_jsonb(ARRAY['a','b']))
SELECT concat(j, '|', s), j::text || s::text, 'x' || j FROM doc WHERE id = 2

SELECT '{"a": 1}'::jsonb
SELECT '{"a":1}'::jsonb->>'a'
SELECT '{"b":1,"a":2,"b":3}'::jsonb
SELECT '{"a":1}'::jsonb @> '{"a":1}'::jsonb
SELECT '{"a":1}'::jsonb ? 'a'
SELECT jsonb_build_object('a',1)
SELECT '{"a":{"b":[1,2,{"c":null}]}}'::jsonb #> '{a,b,2}', '{"a":{"b":[1,2]}}'::jsonb #>> '{a,b,-1}', '[1,2,3]'::jsonb->-1, '[1,2,3]'::json->1, '{"a":"x"}'::json->>'a', '{"a":null}'::jsonb->>'a', '{"a":null}'::jsonb->'a', '{"a":1}'::jsonb->'b'
SELECT '{"a":1,"b":2}'::jsonb - 'a', '[1,2,3]'::jsonb - 1, '{"a":1}'::jsonb || '{"b":2}', '[1]'::jsonb || '2', '{"a":{"b":1}}'::jsonb #- '{a,b}', '{"a":1,"b":2}'::jsonb - ARRAY['a','b']
SELECT '{"a":1}'::jsonb <@ '{"a":1,"b":2}', '{"a":1,"b":2}'::jsonb ?| ARRAY['b','c'], '{"a":1}'::jsonb ?& ARRAY['a','c'], '[1,2]'::jsonb @> '1', '["a"]'::jsonb ? 'a'
SELECT jsonb_build_array(1, 'a', NULL, true, 1.50), json_build_object('a', 1, 'b', ARRAY[1,2]), json_build_array(1, 'x'), jsonb_build_object(), jsonb_object('{a,1,b,2}'), to_jsonb('x'::text), to_json(1.5), to_jsonb(date '2024-01-01'), to_jsonb(ARRAY[1,2]), to_jsonb(true)
SELECT jsonb_set('{"a":1}', '{a}', '2'), jsonb_set('{"a":1}', '{b}', '2', false), jsonb_insert('[1,2]', '{1}', '9'), jsonb_strip_nulls('{"a":null,"b":1}'), jsonb_pretty('{"a":[1,2]}'), jsonb_typeof('[1]'), json_typeof('null'), jsonb_array_length('[1,2,3]'), jsonb_extract_path('{"a":{"b":1}}', 'a', 'b'), jsonb_extract_path_text('{"a":"x"}', 'a')
SELECT json_agg(b ORDER BY id), jsonb_agg(a ORDER BY id), json_object_agg(id, b ORDER BY id), jsonb_object_agg(id, c) FROM g WHERE id < 4
SELECT * FROM jsonb_each('{"a":1,"b":"x"}') ORDER BY 1
SELECT * FROM jsonb_each_text('{"a":1,"b":"x"}') ORDER BY 1
SELECT * FROM jsonb_array_elements('[1,"a",null]')
SELECT * FROM jsonb_array_elements_text('[1,"a",null]')
SELECT jsonb_object_keys('{"a":1,"b":2}')
SELECT '{bad}'::json
SELECT '{"a":}'::jsonb
SELECT '[1,2'::jsonb
SELECT '"\u0000"'::jsonb
SELECT '1'::jsonb = '1.0'::jsonb, '{"a":1}'::jsonb = '{"a":1.00}', '[1]'::jsonb <> '[2]', '1'::jsonb < '2', '"a"'::jsonb > '1', '[]'::jsonb < '{}'
SELECT x FROM (VALUES ('2'::jsonb), ('10'), ('"a"'), ('null'), ('[]'), ('{}'), ('true')) t(x) ORDER BY x
SELECT ('{"a":1.5}'::jsonb->'a')::numeric, ('{"a":1.5}'::jsonb->'a')::int, ('true'::jsonb)::bool, ('{"a":1}'::jsonb)::text, '{"a": 1 }'::json::text, ('5'::jsonb)::float8
SELECT ('"x"'::jsonb)::int
SELECT '1'::json = '1'::json
SELECT row_to_json(x) FROM (SELECT 1 AS a, 'b' AS c) x
SELECT to_jsonb(x) FROM (SELECT 1 AS a, 'b' AS c) x
SELECT jsonb_path_query('{"a":[1,2,3]}', '$.a[*] ? (@ > 1)')
SELECT '{"a":1}'::jsonb @@ '$.a == 1'
SELECT '{"a":"\u00e9\n"}'::jsonb, '{"a":"\u00e9"}'::json, '"\ud83d\ude00"'::jsonb, '1e2'::jsonb, '-0'::jsonb, '1.500'::jsonb, ' { } '::json
SELECT pg_typeof('{}'::jsonb->'a'), pg_typeof('{}'::jsonb->>'a'), pg_typeof('{}'::json->'a'), pg_typeof(jsonb_build_object())

SELECT array[1,2,3][1]
SELECT (array[1,2,3])[1]
SELECT array[1,2,3]
SELECT array[1,2] || 3
SELECT array_length(array[]::int[],1)
SELECT cardinality(array[1,2])
SELECT array[1,NULL]::text
SELECT '{1,2}'::int[]
SELECT generate_series(1,3) limit 1
SELECT ARRAY[1,2] || ARRAY[3], 0 || ARRAY[1,2], ARRAY['a','b'], ARRAY[[1,2],[3,4]], ARRAY[1.5,2], ARRAY[]::text[], ARRAY[NULL]::int[], '{a,"b c",NULL,"NULL"}'::text[], '{{1,2},{3,4}}'::int[]
SELECT array_length(ARRAY[1,2,3], 1), array_length(ARRAY[[1,2],[3,4]], 2), array_ndims(ARRAY[[1,2]]), array_dims(ARRAY[1,2]), array_lower(ARRAY[1,2], 1), array_upper(ARRAY[1,2], 1), cardinality(ARRAY[[1,2],[3,4]]), array_length(ARRAY[1], 2)
SELECT array_append(ARRAY[1], 2), array_prepend(0, ARRAY[1]), array_cat(ARRAY[1], ARRAY[2]), array_remove(ARRAY[1,2,1], 1), array_replace(ARRAY[1,2], 2, 3), array_position(ARRAY['a','b'], 'b'), array_positions(ARRAY[1,2,1], 1), array_fill(7, ARRAY[3]), trim_array(ARRAY[1,2,3], 1)
SELECT ARRAY[1,2] @> ARRAY[1], ARRAY[1] <@ ARRAY[1,2], ARRAY[1,2] && ARRAY[2,3], ARRAY[1,2] = ARRAY[1,2], ARRAY[1,2] < ARRAY[1,3], ARRAY[1] <> ARRAY[2], 1 = ANY(ARRAY[1,2]), 3 > ALL(ARRAY[1,2]), 1 = ANY('{1,2}')
SELECT array_to_string(ARRAY[1,NULL,3], ','), array_to_string(ARRAY[1,NULL,3], ',', '*'), string_to_array('a b c', ' '), array_agg(b ORDER BY id), array_agg(DISTINCT b) FROM g
SELECT (ARRAY[1,2,3])[2:3], (ARRAY[1,2,3])[5], (ARRAY[[1,2],[3,4]])[2][1], ('{a,b}'::text[])[2]
SELECT unnest(ARRAY[1,2,3])
SELECT * FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS u(v, n) ORDER BY n
SELECT '{1,2'::int[]
SELECT '{1,a}'::int[]
SELECT ARRAY[1,'a']
SELECT ARRAY[1, 1.5], pg_typeof(ARRAY[1, 1.5]), pg_typeof(ARRAY['a']), pg_typeof('{1}'::int8[])
SELECT ARRAY(SELECT id FROM g WHERE id < 4 ORDER BY id)
SELECT ARRAY[]
SELECT ARRAY[1,2]::text[], ARRAY[1,2]::float8[], '{1.5,2}'::numeric[]::int[], ARRAY[true,false]::text

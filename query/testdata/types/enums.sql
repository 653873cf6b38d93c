SELECT 'ok'::mood, 'ok'::mood::text, 'happy'::text::mood, NULL::mood, CAST('sad' AS mood), 'ok'::mood::varchar(1), pg_typeof('ok'::mood), pg_typeof('{ok}'::mood[])
SELECT 'angry'::mood
SELECT 'angry'::text::mood
SELECT ''::mood
SELECT '{ok,angry}'::mood[]
SELECT 'ok'::mood::int
SELECT 1::mood
SELECT 'small'::mood
SELECT 'ok'::mood::size
SELECT 'sad'::mood < 'ok', 'happy'::mood > 'ok'::mood, 'ok'::mood = 'ok', 'ok'::mood <> 'sad', 'ok'::mood BETWEEN 'sad' AND 'happy', 'ok'::mood IN ('sad','ok')
SELECT 'ok'::mood = 'ok'::text
SELECT 'ok'::mood = 'small'::size
SELECT 'ok'::mood = 'angry'
SELECT 'ok'::mood > 1
SELECT id, feels, fits FROM person ORDER BY feels, id
SELECT id, feels FROM person ORDER BY feels DESC, id
SELECT id FROM person WHERE feels > 'sad' ORDER BY id
SELECT id FROM person WHERE feels = 'happy' ORDER BY id
SELECT id FROM person WHERE feels = ANY('{sad,ok}') ORDER BY id
SELECT id FROM person WHERE feels = ANY(ARRAY['ok','happy']::mood[]) ORDER BY id
SELECT id FROM person WHERE feels IN ('sad','happy') ORDER BY id
SELECT id FROM person WHERE feels::text LIKE '%a%' ORDER BY id
SELECT id FROM person WHERE feels LIKE 's%'
SELECT id FROM person WHERE feels = name
SELECT min(feels), max(feels), count(feels), count(DISTINCT feels) FROM person
SELECT min(past), max(past) FROM person
SELECT feels, count(*) FROM person GROUP BY feels ORDER BY feels
SELECT fits, min(feels), max(feels) FROM person GROUP BY fits ORDER BY fits DESC
SELECT DISTINCT feels FROM person ORDER BY feels DESC
SELECT DISTINCT ON (fits) fits, id FROM person ORDER BY fits, id
SELECT a.id, b.id FROM person a JOIN person b ON a.feels = b.feels AND a.id < b.id ORDER BY 1
SELECT a.id, b.id FROM person a JOIN person b USING (feels) ORDER BY 1, 2
SELECT feels FROM person UNION SELECT 'ok' ORDER BY 1
SELECT feels FROM person UNION SELECT fits FROM person
SELECT feels FROM person INTERSECT SELECT 'ok'::mood
SELECT feels FROM person EXCEPT SELECT 'happy' ORDER BY 1
SELECT coalesce(feels, 'ok'), nullif(feels, 'ok'), greatest(feels, 'ok'), least(feels, 'ok') FROM person ORDER BY id
SELECT coalesce(feels, name) FROM person
SELECT CASE WHEN id > 2 THEN feels ELSE 'sad' END FROM person ORDER BY id
SELECT CASE feels WHEN 'sad' THEN 1 WHEN 'ok' THEN 2 END FROM person ORDER BY id
SELECT enum_first(NULL::mood), enum_last(NULL::mood), enum_range(NULL::mood), enum_range('ok'::mood, NULL), enum_range(NULL, 'ok'::mood), enum_range('sad'::mood,'ok'::mood), enum_range('ok'::mood,'sad'::mood), enum_first('ok'::mood)
SELECT enum_first(1)
SELECT enum_range('x')
SELECT unnest(enum_range(NULL::mood))
SELECT past, past[1], past[2:3], cardinality(past) FROM person ORDER BY past, id
SELECT past || 'sad'::mood, past || 'sad', 'sad'::mood || past, array_append(past, 'ok') FROM person WHERE id = 1
SELECT past @> '{ok}', past && ARRAY['sad']::mood[], 'ok' = ANY(past), past = '{happy}', past < '{ok}' FROM person ORDER BY id
SELECT array_position(past, 'ok'), array_remove(past, 'ok'), array_to_string(past, '/', '-') FROM person ORDER BY id
SELECT unnest(past) AS m, count(*) FROM person GROUP BY 1 ORDER BY 1 DESC
SELECT array_agg(feels ORDER BY feels DESC), array_agg(DISTINCT feels ORDER BY feels DESC) FROM person
SELECT past::text, past::text[], '{ok,sad}'::text[]::mood[] FROM person WHERE id = 1
SELECT id, lag(feels) OVER (ORDER BY feels, id), rank() OVER (ORDER BY feels) FROM person ORDER BY id
SELECT feels || '!' FROM person ORDER BY id
SELECT concat(feels, '-', id), length(feels::text), upper(feels::text) FROM person ORDER BY id
SELECT upper(feels) FROM person
SELECT sum(feels) FROM person
SELECT string_agg(feels::text, ',' ORDER BY feels) FROM person
SELECT feels IS NULL, feels IS DISTINCT FROM 'ok' FROM person ORDER BY id
SELECT (SELECT max(feels) FROM person) = 'happy', 'ok' IN (SELECT feels FROM person), 'sad'::mood >= ALL (SELECT feels FROM person WHERE feels IS NOT NULL)
SELECT to_jsonb(feels), to_jsonb(past) FROM person ORDER BY id
SELECT ARRAY['sad'::mood, 'ok'], ARRAY[NULL, 'ok'::mood], pg_typeof(ARRAY['ok'::mood])
SELECT * FROM (VALUES ('sad'::mood), ('happy'), (NULL)) v(m) ORDER BY m
SELECT mood FROM nowhere
SELECT 'x'::moody
SELECT 'ok'::public.mood, '{ok}'::public.mood[]
SELECT 'ok'::mood(3)

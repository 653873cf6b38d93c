SELECT (1,2) = (1,2), (1,2) = (1,3), (1,NULL) = (1,NULL), (1,NULL) = (2,NULL), (1,NULL) <> (2,NULL), (1,2) < (1,3), (1,NULL) < (2,0), (1,NULL) < (1,0), (1,2) >= (1,2), ROW(1,'a') = ROW(1,'a')
SELECT (1,2) IN ((1,2),(3,4)), (1,NULL) IN ((1,2)), (1,NULL) IN ((2,3)), (1,2) NOT IN ((1,NULL)), (1,2) NOT IN ((3,NULL)), (1,'a') IN ((1,'a'),(2,'b'))
SELECT (1,2) = (1,2,3)
SELECT (1,2) = (1,'x')
SELECT (1,'a') < (2,1)
SELECT (1,2) IS NULL, (NULL,NULL) IS NULL, (1,NULL) IS NULL, (1,NULL) IS NOT NULL, (1,2) IS NOT NULL, ROW(NULL) IS NULL
SELECT (1,2) IS DISTINCT FROM (1,2), (1,NULL) IS DISTINCT FROM (1,NULL), (1,NULL) IS NOT DISTINCT FROM (1,NULL), (1,2) IS DISTINCT FROM (1,NULL)
SELECT id FROM person WHERE (id, name) IN ((1,'ann'), (2,'x'), (5,'eve')) ORDER BY id
SELECT id FROM person WHERE (fits, feels) > ('small', 'sad') ORDER BY id
SELECT id FROM person WHERE (id, name) IN (SELECT id, name FROM person WHERE feels = 'happy') ORDER BY id
SELECT id FROM person WHERE (id, name) NOT IN (SELECT id, name FROM person WHERE feels = 'happy') ORDER BY id
SELECT id FROM person WHERE (id, feels) = (SELECT id, feels FROM person WHERE name = 'dan')
SELECT (1,2) = (SELECT 1, 2), (1,2) < (SELECT 1, 3), (1,2) = (SELECT 1, 2 WHERE false)
SELECT (1,2) = (SELECT 1)
SELECT (1,2) = (SELECT 1, 2, 3)
SELECT (1,2) = (SELECT id, id FROM person)
SELECT id FROM person WHERE (id, name) > (2, 'bob') ORDER BY id LIMIT 2
SELECT id FROM arr WHERE (i, t) = ('{1,2,3}', '{a,b,c}')
SELECT count(p), count(*) FROM person p
SELECT count(t) FROM (SELECT 1 AS a) t
SELECT p IS NULL, p IS NOT NULL FROM person p ORDER BY id
SELECT q IS NULL FROM person p LEFT JOIN person q ON q.id = p.id + 3 ORDER BY p.id

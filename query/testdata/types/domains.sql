SELECT 5::positive, '7'::positive, NULL::positive, 5::positive + 1, pg_typeof(5::positive + 1), 5.4::positive
SELECT 0::positive
SELECT '-3'::positive
SELECT 'x'::positive
SELECT 'ABC'::code, 'AB'::code || 'x', length('AB'::code)
SELECT 'abc'::code
SELECT 'XXX'::code
SELECT NULL::code
SELECT 'ABCDEF'::code
SELECT id::positive FROM person ORDER BY id
SELECT (id - 3)::positive FROM person
SELECT id FROM person WHERE id = 3::positive
SELECT upper(name)::code FROM person ORDER BY id
SELECT upper(name)::code, id::positive FROM person WHERE id > 3 ORDER BY id
SELECT CAST(2 + 3 AS positive) = 5, 5::positive IN (5, 6), max(id::positive) FROM person
SELECT true::positive

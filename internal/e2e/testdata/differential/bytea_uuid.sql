SELECT encode('\x01ff'::bytea,'hex')
SELECT length('\x01ff'::bytea)
SELECT hashtext('a') is not null
SELECT 1::money
SELECT '1.2.3.4'::inet
SELECT int4range(1,5)
SELECT pg_typeof(1.5)
SELECT pg_typeof(7/2)
SELECT pg_typeof(sum(x)) from (values (1::int8)) t(x)
SELECT pg_typeof(avg(x)) from (values (1::int8)) t(x)
SELECT pg_typeof('a'||'b')
SELECT pg_typeof(date '2024-01-01' - date '2024-01-01')
SELECT pg_typeof(extract(epoch from now()))
SELECT '\x0102'::bytea, 'abc'::bytea, '\\x'::bytea, 'a\000b'::bytea, ''::bytea, '\x'::bytea, E'\\xDEADbeef'::bytea
SELECT '\x1'::bytea
SELECT '\xzz'::bytea
SELECT 'a\9'::bytea
SELECT '\x01'::bytea || '\x02'::bytea, substring('\x010203'::bytea from 2 for 1), substr('\x010203'::bytea, 2), position('\x02'::bytea in '\x0102'::bytea), overlay('\x010203'::bytea placing '\xff'::bytea from 2 for 1), trim('\x00'::bytea from '\x00aa00'::bytea), btrim('\x00aa00'::bytea, '\x00'::bytea), ltrim('\x0001'::bytea, '\x00'::bytea), rtrim('\x0100'::bytea, '\x00'::bytea)
SELECT get_byte('\x0102'::bytea, 1), set_byte('\x0102'::bytea, 0, 255), get_bit('\x01'::bytea, 0), set_bit('\x00'::bytea, 3, 1), bit_count('\x0f'::bytea), octet_length('\x0102'::bytea), length('\x0102'::bytea), length('\xc3a9'::bytea, 'UTF8')
SELECT get_byte('\x01'::bytea, 5)
SELECT '\x01'::bytea < '\x02', '\x01'::bytea = '\x01', '\x0100'::bytea > '\x01', '\x01'::bytea <> '\x02'
SELECT '\x01'::bytea LIKE '\x01', '\x0102'::bytea LIKE '\x01%'
SELECT md5('\x0102'::bytea), sha256('\x01'::bytea), encode('\x0102'::bytea, 'base64'), crc32('\x01')
SELECT y, length(y), encode(y, 'hex'), y || '\x01', y = '\x6162' FROM s ORDER BY id
SELECT id FROM s WHERE y > '\x60' ORDER BY y
SELECT max(y), min(y) FROM s
SELECT '00112233-4455-6677-8899-AABBCCDDEEFF'::uuid, '{00112233-4455-6677-8899-aabbccddeeff}'::uuid, '00112233445566778899aabbccddeeff'::uuid, '0011-2233-4455-6677-8899-aabb-ccdd-eeff'::uuid
SELECT '00112233'::uuid
SELECT '00000000-0000-0000-0000-000000000001'::uuid < '00000000-0000-0000-0000-000000000002', '00112233-4455-6677-8899-aabbccddeeff'::uuid = '00112233-4455-6677-8899-AABBCCDDEEFF', '00112233-4455-6677-8899-aabbccddeeff'::uuid::text, length(gen_random_uuid()::text)
SELECT max('00112233-4455-6677-8899-aabbccddeeff'::uuid)
SELECT 1::uuid
SELECT convert('é', 'UTF8', 'LATIN1')
SELECT B'101', X'1F', B'101'::int
SELECT '(1,2)'::point
SELECT '<a/>'::xml
SELECT 'a b'::tsvector
SELECT to_tsvector('a b')
SELECT '1.2.3.0/24'::cidr
SELECT '16/B374D848'::pg_lsn

SELECT 7/2
SELECT -7/2
SELECT 1/0
SELECT 5%0
SELECT 2147483647+1
SELECT 9223372036854775807+1
SELECT 32767::smallint+1::smallint
SELECT 5^2
SELECT 2^0.5
SELECT 7.0/2
SELECT 10/4*4
SELECT div(7,2)
SELECT 5 # 3
SELECT |/ 25.0
SELECT power(2,10)
SELECT 7%3, -7%3, 7%-3, 5&3, 5|2, ~7, 1<<3, -16>>2, 1<<33, 1::bigint<<33
SELECT 1::smallint << 4, 256::smallint >> 2, 1::smallint << 20
SELECT 2::int2 + 3::int4, 2::int2 * 3::int8, 2::int4 - 3::int8, 7::int2 / 2::int4, 7::int8 % 4::int2, 7::int4 / 2::int8
SELECT 2::int2 & 3::int4
SELECT abs(-5), abs(-5::smallint), abs(-5::bigint), @ -5, @ (-5)::smallint, sign(5), -(-5), +5
SELECT gcd(12, 18), gcd(-12, 18), gcd(0, 0), lcm(4, 6), lcm(-4, 6), lcm(0, 5), gcd(12::bigint, 18), gcd(330.3, 462), lcm(330.3, 462)
SELECT lcm(2147483647, 2)
SELECT gcd(-2147483648, 0)
SELECT abs((-9223372036854775808)::bigint)
SELECT (-9223372036854775808)::bigint / -1
SELECT (-9223372036854775808)::bigint % -1
SELECT factorial(5), factorial(0), factorial(20), factorial(25), 5 + factorial(3)
SELECT factorial(-1)
SELECT mod(7, 3), mod(-7, 3), mod(7::int8, 3), mod(7::int2, 3::int2), mod(7, 0)
SELECT mod(7, 3), mod(-7, 3), mod(7::int8, 3), mod(7::int2, 3::int2)
SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(5.35::float8, 0.024, 10.06, 5), width_bucket(0, 1, 10, 5), width_bucket(11, 1, 10, 5), width_bucket(3, 10, 1, 4)
SELECT width_bucket(5, 1, 1, 5)
SELECT width_bucket(5, 1, 2, 0)
SELECT width_bucket('NaN', 1, 2, 3)
SELECT width_bucket('NaN'::float8, 1, 2, 3)
SELECT to_hex(255), to_hex(-1), to_hex(255::bigint), to_hex(-1::bigint)
SELECT bit_count('\x0fff'::bytea), bit_length('abc'), bit_length('\x01'::bytea)
SELECT '12'::int, ' 12 '::int, '-0'::int, '+7'::smallint, '9223372036854775807'::bigint
SELECT '9223372036854775808'::bigint
SELECT '32768'::smallint
SELECT '1 2'::int
SELECT '0x10'::int
SELECT '1_000'::int
SELECT 40000::int2
SELECT -32769::int2
SELECT 1e10::int
SELECT 1e20::int8
SELECT 'NaN'::float8::int
SELECT '1e30'::float8::bigint
SELECT 2.5::int, 3.5::int, -2.5::int, 2.5::float8::int, 3.5::float8::int, 0.5::float4::int, 1.5::numeric::smallint
SELECT s+i, i+l, s*2, l/7, i%7, -l, s-i FROM n WHERE id <> 4 ORDER BY id
SELECT l+1 FROM n WHERE id = 4
SELECT i*2 FROM n WHERE id = 4
SELECT s*s FROM n WHERE id = 4
SELECT -s, abs(i), i = l, s < i, i <> 10, l >= 100 FROM n ORDER BY id
SELECT id FROM n WHERE i BETWEEN 0 AND 100 ORDER BY id
SELECT id FROM n WHERE i IN (10, 77, NULL) ORDER BY id
SELECT sum(s), sum(i), sum(l), avg(s), avg(i), avg(l), min(s), max(i), min(l), count(s) FROM n WHERE id <> 4
SELECT sum(l) FROM n
SELECT bit_and(i), bit_or(i), bit_xor(i), bit_xor(l), bit_xor(s), bit_and(l), bit_or(s) FROM n WHERE id IN (1,6,7)
SELECT pg_typeof(1::int2+1::int4), pg_typeof(1::int2+1::int8), pg_typeof(1/2), pg_typeof(5^2), pg_typeof(1+1.5), pg_typeof(1+1.5::float4), pg_typeof(~1::int2), pg_typeof(factorial(3))
SELECT 1 !< 2
SELECT 1 + NULL, NULL + NULL, NULL::int * 2, 2 * NULL
SELECT 'a'::int
SELECT 1::int::text::int8::numeric::float8::int4
SELECT int4(5.7), int8('12'), float8(1), numeric(3), text(5), bool(1), int2(7.5)
SELECT 2147483648, -2147483649, 9223372036854775808, -9223372036854775808
SELECT int4mul(3, 4)
SELECT 1 = 1 = true
SELECT 5 > 3 > 1
SELECT random() BETWEEN 0 AND 1
SELECT greatest(1, 2::bigint), least(1::smallint, 2), greatest(1, 2.5), least(NULL, 3)
SELECT numeric_scale(1)
SELECT (1+2)*3, 1+2*3, -2^2, 2^-1, 10-3-2, 100/10/5
SELECT isfinite(1)
SELECT num_nulls(1, NULL, 3), num_nonnulls(1, NULL, 'a')
SELECT pg_size_pretty(10240::bigint), pg_size_pretty(1234567890::bigint), pg_size_pretty(100::bigint), pg_size_pretty(-20000::bigint), pg_size_pretty(1234567.5)
SELECT pg_size_bytes('10 kB'), pg_size_bytes('1.5MB'), pg_size_bytes('-2GB'), pg_size_bytes('100')

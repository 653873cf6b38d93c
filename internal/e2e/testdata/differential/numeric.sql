SELECT 1.10::numeric
SELECT 1.0/3.0
SELECT 2::numeric/3
SELECT 10::numeric(10,2)/4
SELECT 1e20::numeric*1e20::numeric
SELECT 12345678901234567890123456789012345678901::numeric
SELECT avg(x) FROM (VALUES (1.1::numeric),(2.2)) t(x)
SELECT stddev(x) FROM (VALUES (1),(2),(4)) t(x)
SELECT 'NaN'::numeric
SELECT log(100::numeric)
SELECT log(2.0,8.0)
SELECT exp(1.0), exp(0.0), exp(-1.0), exp(10.5), exp(100.0), exp(-100.0), exp(0.001), exp(1::numeric)
SELECT exp(1000.0)
SELECT exp(6000.0)
SELECT exp(-6000.0)
SELECT exp(1e6)
SELECT exp('Infinity'::numeric), exp('-Infinity'::numeric), exp('NaN'::numeric), exp(5.5000000000)
SELECT ln(10.0), ln(2.0), ln(0.5), ln(1.0), ln(1e10), ln(1e-10), ln(123456789.123456789), ln(1.00000001), ln(0.99999), ln(1e100)
SELECT ln(0.0)
SELECT ln(-1.0)
SELECT ln('Infinity'::numeric), ln('NaN'::numeric)
SELECT ln('-Infinity'::numeric)
SELECT log(10.0), log(1000.0), log(0.001), log(2.5), log10(50.0), log(1e50)
SELECT log(0.0)
SELECT log(-5.0)
SELECT log(2, 64), log(10, 1000), log(3.5, 7.2), log(0.5, 8), log(2.0, 10.0), log(1.1, 2)
SELECT log(1.0, 5)
SELECT log(0.0, 5)
SELECT log(-2.0, 5)
SELECT 2.0^3.0, 2.0^0.5, 2.5^2, 2.0^-1, 10.0^10, 1.1^100, 0.5^10, 2^10.0, 4.0^0.5, 100.0^-2, 0.0^0.0, 0.0^2.5, 1.0^1000000, 7.7^3.3
SELECT power(2.0, 100), power(2.0, -100), power(10.0, 20.5), power(0.1, 5.5), pow(3.0, 4), power(1.000001, 1000000), power(99.99, 9.99), power(2::numeric, 0)
SELECT (-2.0)^3, (-2.0)^2, (-8.0)^-3, (-1.5)^5.0
SELECT (-8.0)^(1.0/3)
SELECT 0.0^-1
SELECT 10.0^200000
SELECT 'NaN'::numeric^0, 1.0^'NaN'::numeric, 'Infinity'::numeric^2, 'Infinity'::numeric^-2, 2.0^'Infinity'::numeric, 0.5^'Infinity'::numeric, '-Infinity'::numeric^3, '-Infinity'::numeric^2, 2.0^'-Infinity'::numeric
SELECT 12345.678^2.5, 0.00001^3, 1e10^2.2, 1.5^50, 3.14159265358979^2.71828182845905, 1000000.0^0.1
SELECT sqrt(2.0), sqrt(0.0), sqrt(4.00), sqrt(1e-20), sqrt(12345678901234567890.0), sqrt(2::numeric(10,5)), |/ 2.0::float8
SELECT sqrt(-1.0)
SELECT ||/ 27.0, cbrt(2.0), cbrt(-8::float8)
SELECT round(2.5), round(-2.5), round(3.5), round(1234.567, 1), round(1234.567, -2), round(0.005, 2), round(-0.5), round(1e20, -18), round(999.999, 2), round(5.5, -1)
SELECT trunc(2.9), trunc(-2.9), trunc(1234.567, 1), trunc(1234.567, -2), trunc(0.9999, 3), trunc(1.5, 5)
SELECT ceil(2.1), ceil(-2.1), floor(2.9), floor(-2.1), ceiling(2.0), ceil(2.000), floor(-0.5)
SELECT 1.5 % 0.4, -1.5 % 0.4, 1e20 % 7, mod(10.5, -3), div(10.5, 3), div(-10.5, 3), div(1e20, 7), 5.5 % 'Infinity'::numeric
SELECT div(1.0, 0)
SELECT 1.5 % 0
SELECT 1.5 / 0
SELECT 'NaN'::numeric / 0, 'Infinity'::numeric / 'Infinity'::numeric, 1 / 'Infinity'::numeric
SELECT 'Infinity'::numeric / 0
SELECT 'NaN'::numeric = 'NaN', 'NaN'::numeric > 'Infinity', 'Infinity'::numeric > 1e100, '-Infinity'::numeric < -1e100
SELECT scale(1.500), min_scale(1.500), trim_scale(1.500), scale(5), min_scale(0.000), trim_scale(0.00), min_scale(100)
SELECT 1.0 = 1.00, 1.5 < 1.50, 1.10 || '', 0.10 + 0.20, 1.00 * 1.00, 1 / 3.0, 100 / 3.00, 1.000000 / 3, 0.00001 / 3
SELECT 1.23456789012345678901234567890 * 9.87654321098765432109876543210, 99999999999999999999.99 + 0.01, 0.1 * 0.1 * 0.1
SELECT 123.456::numeric(5,2), 123.456::numeric(6), 99.995::numeric(4,2)
SELECT 99.999::numeric(4,2)
SELECT 123.456::numeric(5,-1), 0.00456::numeric(3,5)
SELECT 1::numeric(1001)
SELECT 1::numeric(0)
SELECT 'Infinity'::numeric(5,2)
SELECT '1.5e3'::numeric, '.5'::numeric, '5.'::numeric, '-1.50'::numeric, ' 1.5 '::numeric, 'inf'::numeric, '1e-5'::numeric, 'nan'::numeric
SELECT '1.5.5'::numeric
SELECT ''::numeric
SELECT '1e'::numeric
SELECT m+1, m*2, m/3, -m, abs(m), round(m,2), p, p/7, p*p, m+p FROM n ORDER BY id
SELECT m^2, sqrt(abs(p)), exp(p/1000), ln(abs(p)+1) FROM n WHERE id IN (1,2,7) ORDER BY id
SELECT sum(m), avg(m), min(m), max(m), count(m) FROM n WHERE id <> 6
SELECT sum(p), avg(p), stddev(p), variance(p), stddev_pop(p), var_pop(p), stddev_samp(p), var_samp(p) FROM n
SELECT stddev(i), variance(l), var_pop(s), stddev_pop(i) FROM n WHERE id IN (1,2,3)
SELECT sum(m), avg(m), max(m), min(m) FROM n
SELECT m::int, m::float8, m::text, p::int, p::float4 FROM n WHERE id IN (1,2,3,7) ORDER BY id
SELECT m::int FROM n WHERE id = 4
SELECT m::int FROM n WHERE id = 6
SELECT m FROM n ORDER BY m, id
SELECT DISTINCT m FROM (VALUES (1.0),(1.00),(2)) t(m) ORDER BY m DESC LIMIT 1
SELECT m, count(*) FROM (VALUES (1.0),(1.0),(2)) t(m) GROUP BY m ORDER BY m
SELECT 1.5::float8::numeric, 1e-10::float8::numeric, 123456789012345678::float8::numeric, 0.1::float4::numeric, 1e30::float8::numeric, 'NaN'::float8::numeric, 'Infinity'::float8::numeric
SELECT gcd(12.5, 2.5), lcm(1.5, 2), gcd(0.0, 5), gcd('NaN'::numeric, 1)
SELECT numeric '1.5', decimal '2.50', 1.5::decimal(5,3), 1.5::dec
SELECT sign(-1.5), sign(0.0), sign('NaN'::numeric), sign('-Infinity'::numeric), abs('-Infinity'::numeric), -'Infinity'::numeric
SELECT pg_typeof(1.5), pg_typeof(1e3), pg_typeof(exp(1.0)), pg_typeof(2.0^2), pg_typeof(round(1.5)), pg_typeof(sum(1::bigint)), pg_typeof(avg(1)), pg_typeof(ln(2.0))
SELECT 0.1 + 0.2 = 0.3, 1.1 * 3 = 3.3, 1e-1000 * 1e-1000, 1e1000
SELECT 1e-16383::numeric + 0 = 0
SELECT width_bucket(2.5::numeric, 0, 10, 4), width_bucket(-1.0, 0, 10, 4), width_bucket(10.0, 0, 10, 4)
SELECT random(1, 2)
SELECT to_char(1234.5,'9,999.99')
SELECT 3.0::numeric(3,1)::text, 3::numeric(3,1) * 2, (1.25::numeric(3,2) + 1)::numeric(4,1)

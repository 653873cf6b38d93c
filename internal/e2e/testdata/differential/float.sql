SELECT round(2.5::float8)
SELECT round(0.5::float8)
SELECT 1e308::float8*10
SELECT 1::float8/0
SELECT 0::float8/0
SELECT 'Infinity'::float8
SELECT '-0'::float8
SELECT 1e15::float8
SELECT 1.0::float8
SELECT 1::float4/3
SELECT sqrt(-1::float8)
SELECT ln(0::float8)
SELECT 1e-320::float8, 5e-324::float8, 1.7976931348623157e308::float8, 1e22::float8, 1e21::float8, 123456789.123456789::float8, 0.00001::float8, 0.0001::float8, 100000::float4, 1e6::float4, 1234567.8::float4
SELECT '1e-400'::float8
SELECT '1e400'::float8
SELECT '1e39'::float4
SELECT '1e-50'::float4
SELECT 'abc'::float8
SELECT ''::float8
SELECT 'nan'::float8, 'inf'::float8, '-infinity'::float4, '  1.5  '::float8, '1e5'::float4, '.5'::float8, '5.'::float8
SELECT 0.1::float8 + 0.2, 0.1::float4 + 0.2::float4, 0.1::float4 + 0.2::float8, 1.1::float8 * 1.1, 1/3::float8, 2::float4/3, 1e300::float8 * 1e-300
SELECT 1e-300::float8 * 1e-300
SELECT 1e38::float4 * 10::float4
SELECT 1e300::float8::float4
SELECT 'NaN'::float8 = 'NaN', 'NaN'::float8 > 'Infinity', '-0'::float8 = 0, 'NaN'::float8 + 1, 'Infinity'::float8 - 'Infinity', 'Infinity'::float8 * 0
SELECT ceil(1.5::float8), ceil(-1.5::float8), floor(1.5::float8), floor(-1.5::float8), round(-2.5::float8), round(1.5::float8), trunc(-1.7::float8), sign(-2.5::float8), abs(-1.5::float8), ceil(-0.5::float8)
SELECT sqrt(2::float8), cbrt(27::float8), exp(1::float8), ln(2::float8), log(100::float8), log10(1000::float8), power(2::float8, 0.5), 2::float8 ^ 3, pi()
SELECT sin(1), cos(1), tan(1), cot(1), asin(0.5), acos(0.5), atan(1), atan2(1, 2), sinh(1), cosh(1), tanh(1), asinh(1), acosh(2), atanh(0.5)
SELECT sind(30), cosd(60), tand(45), cotd(45), asind(0.5), acosd(0.5), atand(1)
SELECT degrees(pi()), radians(180), degrees(1), radians(1)
SELECT acosh(0.5::float8)
SELECT atanh(2::float8)
SELECT atanh(1::float8), atanh(-1::float8), sinh(1000::float8), cosh(1000::float8), tanh(1000::float8)
SELECT asin(2)
SELECT sin('Infinity')
SELECT cot(0::float8)
SELECT exp(1000::float8)
SELECT exp(-1000::float8)
SELECT power(0::float8, -1)
SELECT power(-1::float8, 0.5)
SELECT power(10::float8, 400)
SELECT log(-1::float8)
SELECT f, d, f+d, f*2, d/3, -f, abs(d), f::float8, d::text, f::text FROM n WHERE id NOT IN (4) ORDER BY id
SELECT d::int FROM n WHERE id = 4
SELECT sum(f), sum(d), avg(f), avg(d), min(f), max(d), stddev(d), variance(f), var_pop(d), stddev_pop(d) FROM n WHERE id IN (1,2,3,7)
SELECT max(d), min(d), max(f) FROM n
SELECT corr(d, i), covar_pop(d, i), covar_samp(d, i), regr_avgx(d, i), regr_avgy(d, i), regr_count(d, i), regr_intercept(d, i), regr_r2(d, i), regr_slope(d, i), regr_sxx(d, i), regr_sxy(d, i), regr_syy(d, i) FROM n WHERE id IN (1,2,3,7)
SELECT corr(d, i), regr_count(d, i), covar_samp(d, i), regr_slope(d, i), regr_r2(d,i), regr_avgx(d,i) FROM n WHERE id = 1
SELECT corr(d, i), regr_count(d, i), covar_pop(d, i) FROM n WHERE false
SELECT corr(d, c::float8) FROM g
SELECT id FROM n WHERE d > 0 ORDER BY id
SELECT d FROM n ORDER BY d DESC NULLS LAST
SELECT 1.5::float8::text, 100::float8::text, 1e100::float8::text, 0.1::float4::float8, 0.1::float4 = 0.1::float8, 0.1::float4 = 0.1::numeric
SELECT 1.5::real, 1.5::float, 1.5::float(24), 1.5::float(25), 1.5::double precision
SELECT 1.5::float(54)
SELECT 1.5::float(0)
SELECT mod(1.5::float8, 1)
SELECT 1.5::float8 % 1
SELECT 5::float8 # 3
SELECT round(1.5::float8, 1)
SELECT float8 '1.5' < 2, float4 '1.5' = 1.5, 1::float8 = 1, 1::float8 = 1.0
SELECT extract(epoch from now()) > 0
SELECT greatest('NaN'::float8, 1)
SELECT erf(1)
SELECT setseed(0.5)
SELECT width_bucket(3::float8, 0, 10, 5)

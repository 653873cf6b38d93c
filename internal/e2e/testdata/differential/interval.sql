SELECT interval '1 year 2 months 3 days 04:05:06'
SELECT interval '-1 day 2 hours'
SELECT justify_hours(interval '36 hours')
SELECT extract(epoch from interval '1 month')
SELECT extract(epoch from interval '1 year')
SELECT interval '1' day, interval '1-2' year to month, interval '1 2:03' day to minute, interval '90' minute, interval '1.5' hour, interval '1:02:03' hour to second, interval '3' month, interval '2' year, interval '10' second, interval '1.123456789' second(3)
SELECT interval '1 week', interval '1.5 days', interval '1.5 months', interval '1.5 years', interval '2 decades', interval '1 century', interval '1 millennium', interval '100 ms', interval '5 us', interval '@ 1 day ago', interval '1 day -2 hours', interval '-1-2 +3 -4:05:06', interval '1y 2mon 3d 4h 5m 6s', interval 'P1Y2M3DT4H5M6S', interval 'P-1Y', interval 'PT36H', interval '0', interval '1:30', interval '1 12:00'
SELECT interval 'abc'
SELECT interval '1 foo'
SELECT interval ''
SELECT interval '3000000000 years'
SELECT interval '1 day' + interval '2 hours', interval '1 mon' - interval '1 day', interval '1 day' * 2, interval '1 day' * 1.5, 2 * interval '1 mon', interval '1 mon' / 2, interval '1 day' / 3, -interval '1 day 2 hours', interval '1 year' * 0.1, interval '10 hours' / 1.5, interval '1 mon 1 day' * 0.5
SELECT interval '1 day' / 0
SELECT interval '1 day' = interval '24 hours', interval '1 mon' = interval '30 days', interval '1 year' = interval '365 days', interval '1 day' > interval '23 hours', interval '1 mon' < interval '31 days'
SELECT extract(year from interval '14 months'), extract(month from interval '14 months'), extract(day from interval '40 days'), extract(hour from interval '100 hours'), extract(second from interval '1.5 seconds'), extract(quarter from interval '5 months'), extract(decade from interval '25 years'), extract(century from interval '250 years'), extract(millennium from interval '2500 years'), extract(milliseconds from interval '1.5 seconds'), extract(microseconds from interval '1.5 seconds'), extract(minute from interval '90 minutes'), extract(epoch from interval '1 day 1.5 seconds'), date_part('hour', interval '-5 hours')
SELECT extract(week from interval '1 day')
SELECT extract(dow from interval '1 day')
SELECT date_trunc('hour', interval '1 day 02:03:04'), date_trunc('month', interval '1 year 2 mons 3 days'), date_trunc('year', interval '14 months')
SELECT date_trunc('week', interval '1 day')
SELECT make_interval(years => 1, months => 2), make_interval(1, 2, 3, 4, 5, 6, 7.5), make_interval(secs => 90.5), make_interval(days => 10), make_interval()
SELECT interval '1 day'::text, interval '1 day'::time, interval '25:10'::time, time '10:00'::interval, interval(0) '1.6 seconds', interval '1.23456'::interval(2), interval '1 year 2 mons 3 days'::interval year to month, interval '1 day 02:03:04'::interval hour
SELECT to_char(interval '1 year 2 mons 3 days 04:05:06', 'YYYY MM DD HH24 MI SS'), to_char(interval '36 hours', 'HH24:MI'), to_char(interval '36 hours', 'HH12'), to_char(interval '-1 day', 'DD'), to_char(interval '15 hours 2 minutes', 'HH24"h" MI"m"'), to_char(interval '1.5 seconds', 'SS.MS')
SELECT sum(x), avg(x), min(x), max(x), count(x) FROM (VALUES (interval '1 day'), ('2 hours'), ('1 mon'), (NULL)) t(x)
SELECT x, count(*) FROM (VALUES (interval '1 day'), ('24 hours'), ('1 mon')) t(x) GROUP BY x ORDER BY x
SELECT DISTINCT x FROM (VALUES (interval '1 mon'), (interval '2 mons')) t(x) ORDER BY x DESC
SELECT iv, -iv, iv * 2, iv / 2, iv + interval '1 hour', justify_interval(iv), extract(day from iv), iv > interval '1 day' FROM tm ORDER BY id
SELECT interval '1 day' + 1
SELECT interval '1 day' * interval '1 day'
SELECT interval '1 day' < 5
SELECT pg_typeof(interval '1 day' * 2), pg_typeof(interval '1 day' / 2), pg_typeof(avg(interval '1 day'))
SELECT interval '178956970 years'
SELECT interval '178956971 years'
SELECT interval '1 day'::int
SELECT isfinite(interval '1 day'), greatest(interval '1 day', interval '25 hours'), least(interval '1 mon', '29 days')
SET intervalstyle = 'iso_8601'; SELECT interval '1 year 2 mons -3 days 04:05:06.7'; SET intervalstyle = 'postgres_verbose'; SELECT interval '1 year 2 mons -3 days 04:05:06.7'; SET intervalstyle = 'sql_standard'; SELECT interval '1 year 2 mons', interval '-1 day 02:00'; RESET intervalstyle

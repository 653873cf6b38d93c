SELECT timestamptz '2024-01-01 00:00+00' at time zone 'America/New_York'
SELECT age(timestamp '2024-03-01', timestamp '2024-01-31')
SELECT date_trunc('month', timestamptz '2024-01-15 00:00+00')
SELECT extract(epoch from timestamp '2024-01-01 00:00:00.5')
SELECT to_char(timestamp '2024-01-02 03:04:05','YYYY-MM-DD HH24:MI:SS')
SELECT timestamp '2024-01-01 00:00:00.123456789'
SELECT timestamp '0044-03-15 BC'
SELECT timestamp '294276-12-31'
SELECT timetz '12:00+02'
SELECT make_date(2024,2,30)
SELECT date '2024-02-30'
SELECT timestamp '2024-01-01 23:59:59.9999999'
SELECT date_bin('15 minutes', timestamp '2024-01-01 00:17', timestamp '2024-01-01')
SELECT timestamp '2024-01-01 00:00' < timestamptz '2024-01-01 00:00+00'
SELECT date '2024-01-31' + 1, date '2024-01-31' - 31, date '2024-01-31' - date '2023-01-31', date '2024-01-31' + interval '1 month', date '2024-01-31' + time '10:00', 5 + date '2024-01-01', time '10:00' + date '2024-01-01'
SELECT timestamp '2024-01-31' + interval '1 month', timestamp '2024-03-31' - interval '1 month', timestamp '2024-01-01' - timestamp '2023-12-25 12:00', interval '1 day' + timestamp '2024-01-01', timestamptz '2024-03-30 12:00' + interval '1 day', timestamptz '2024-03-30 12:00' + interval '24 hours'
SELECT time '10:00' + interval '3 hours', time '23:00' + interval '2 hours', time '10:00' - time '08:30', time '10:00' - interval '11 hours', interval '1 hour' + time '10:00'
SELECT age(timestamp '2024-03-31', timestamp '2024-02-29'), age(timestamp '2023-01-01', timestamp '2024-06-15 12:00'), age(timestamptz '2024-03-01', timestamptz '2023-03-01'), age(date '2024-01-01', date '2023-12-25'), age(timestamp '2024-05-31', timestamp '2024-04-30 12:00:01')
SELECT age(timestamp '2000-01-01') = age(current_date::timestamp, timestamp '2000-01-01'), age(now()) IS NOT NULL
SELECT extract(year from date '2024-02-29'), extract(month from date '2024-02-29'), extract(day from date '2024-02-29'), extract(dow from date '2024-02-29'), extract(isodow from date '2024-03-03'), extract(doy from date '2024-12-31'), extract(week from date '2024-12-30'), extract(isoyear from date '2024-12-30'), extract(quarter from date '2024-05-01'), extract(decade from date '2024-05-01'), extract(century from date '2000-01-01'), extract(millennium from date '2001-01-01'), extract(epoch from date '2024-01-01'), extract(julian from date '2024-01-01')
SELECT extract(hour from timestamp '2024-01-01 13:14:15.678'), extract(minute from timestamp '2024-01-01 13:14:15.678'), extract(second from timestamp '2024-01-01 13:14:15.678'), extract(milliseconds from timestamp '2024-01-01 13:14:15.678'), extract(microseconds from timestamp '2024-01-01 13:14:15.678'), extract(julian from timestamp '2024-01-01 12:00'), date_part('epoch', timestamptz '2024-01-01 00:00+00'), extract(timezone from timestamptz '2024-07-01'), extract(timezone_hour from timestamptz '2024-01-01')
SELECT extract(hour from time '13:14:15.5'), extract(epoch from time '01:00'), extract(second from time '00:00:01.5'), date_part('minute', time '00:05')
SELECT extract(hour from date '2024-01-01')
SELECT extract(nosuch from timestamp '2024-01-01')
SELECT extract(day from time '10:00')
SELECT extract(year from date 'infinity'), extract(epoch from timestamp '-infinity'), extract(day from date 'infinity'), date_part('year', timestamp 'infinity')
SELECT date_trunc('hour', timestamp '2024-05-15 13:14:15'), date_trunc('day', timestamp '2024-05-15 13:14:15'), date_trunc('week', timestamp '2024-05-15'), date_trunc('month', date '2024-05-15'), date_trunc('quarter', timestamp '2024-05-15'), date_trunc('year', timestamp '2024-05-15'), date_trunc('decade', timestamp '2024-05-15'), date_trunc('century', timestamp '2024-05-15'), date_trunc('millennium', timestamp '2024-05-15'), date_trunc('milliseconds', timestamp '2024-05-15 01:02:03.456789')
SELECT date_trunc('day', timestamptz '2024-05-15 23:14:15+00', 'America/New_York'), date_trunc('day', timestamptz '2024-05-15 23:14:15+00')
SELECT date_trunc('nosuch', timestamp '2024-01-01')
SELECT date_bin('1 hour', timestamptz '2024-01-01 12:34:56+00', timestamptz '2001-01-01'), date_bin('7 days', timestamp '2024-01-10', timestamp '2024-01-01'), date_bin('15 minutes', timestamp '2023-12-31 23:59', timestamp '2024-01-01')
SELECT date_bin('1 month', timestamp '2024-01-01', timestamp '2024-01-01')
SELECT date_bin('0 days', timestamp '2024-01-01', timestamp '2024-01-01')
SELECT make_date(2024, 2, 29), make_date(-44, 3, 15), make_time(8, 15, 23.5), make_timestamp(2024, 7, 15, 8, 15, 23.5), make_timestamptz(2024, 7, 15, 8, 15, 23.5), make_timestamptz(2024, 7, 15, 8, 15, 23.5, 'America/New_York')
SELECT make_date(0, 1, 1)
SELECT make_time(25, 0, 0)
SELECT make_timestamp(2024, 13, 1, 0, 0, 0)
SELECT to_timestamp(0), to_timestamp(1704067200.123456), to_timestamp(-1), to_timestamp('Infinity'), to_timestamp(1e9)
SELECT to_timestamp('NaN'::float8)
SELECT to_date('2024-03-15', 'YYYY-MM-DD'), to_date('15/03/24', 'DD/MM/YY'), to_date('05 Dec 2000', 'DD Mon YYYY'), to_date('2024 75', 'YYYY DDD'), to_date('20240315', 'YYYYMMDD'), to_date('March 5, 2024', 'Month DD, YYYY'), to_date('2024-W10-3', 'IYYY-"W"IW-ID'), to_date('1-2-3', 'YYYY-MM-DD'), to_date('44-03-15 BC', 'YYYY-MM-DD BC'), to_date('2024', 'YYYY'), to_date('  2024  3', 'YYYY MM')
SELECT to_date('2024-13-01', 'YYYY-MM-DD')
SELECT to_date('2024-02-30', 'YYYY-MM-DD')
SELECT to_date('abc', 'YYYY')
SELECT to_date('Foo 2024', 'Mon YYYY')
SELECT to_timestamp('2024-03-15 13:14:15', 'YYYY-MM-DD HH24:MI:SS'), to_timestamp('15-Mar-2024 01:05 PM', 'DD-Mon-YYYY HH12:MI PM'), to_timestamp('2024-03-15 13:14:15.678', 'YYYY-MM-DD HH24:MI:SS.MS'), to_timestamp('2024-03-15 13:14:15.123456', 'YYYY-MM-DD HH24:MI:SS.US'), to_timestamp('20240315131415', 'YYYYMMDDHH24MISS'), to_timestamp('2024-03-15 5000', 'YYYY-MM-DD SSSS'), to_timestamp('2024-03-15 10:00 +05', 'YYYY-MM-DD HH24:MI TZH')
SELECT to_timestamp('2024-03-15 13', 'YYYY-MM-DD HH12')
SELECT to_timestamp('2024-03-15 25:00', 'YYYY-MM-DD HH24:MI')
SELECT timestamp '2024-01-01 12:00' AT TIME ZONE 'America/New_York', timestamptz '2024-01-01 12:00+00' AT TIME ZONE 'Asia/Tokyo', timestamp '2024-07-01 12:00' AT TIME ZONE 'UTC', timestamptz '2024-07-01 12:00+00' AT TIME ZONE interval '-3 hours', timestamp '2024-01-01 12:00' AT TIME ZONE 'EST', timezone('+03:30', timestamptz '2024-01-01 00:00+00')
SELECT now() AT TIME ZONE 'Nowhere/Land'
SELECT (date '2024-01-01', date '2024-02-01') OVERLAPS (date '2024-01-15', date '2024-03-01'), (timestamp '2024-01-01', interval '10 days') OVERLAPS (timestamp '2024-01-11', interval '1 day'), (time '10:00', time '12:00') OVERLAPS (time '11:00', time '13:00'), (date '2024-01-01', date '2024-01-31') OVERLAPS (date '2024-01-31', date '2024-02-28')
SELECT isfinite(date '2024-01-01'), isfinite(timestamp 'infinity'), isfinite(timestamptz '-infinity'), isfinite(interval '1 day')
SELECT date 'epoch', timestamp 'epoch', date 'infinity' > date '2024-01-01', timestamp '-infinity' < now()
SELECT 'infinity'::date + 1, 'infinity'::timestamp + interval '1 day', 'infinity'::timestamp::date, '-infinity'::date::timestamp
SELECT 'infinity'::date - 'infinity'::date
SELECT 'infinity'::timestamp - '-infinity'::timestamp
SELECT date '2024-1-5', date 'January 8, 1999', date '1/8/1999', date '19990108', date '99-01-08', date 'J2451187', date '1999.008', date '08-Jan-1999', date '1999-Jan-08', timestamp '2024-01-01T10:20:30', timestamp '20240101T102030', timestamptz '2024-01-01 10:00:00 America/New_York', timestamptz '2024-01-01 10:00:00-05', timestamptz '2024-01-01 10:00:00 PST'
SELECT date '18/1/1999'
SELECT date '2024-00-01'
SELECT timestamp '2024-01-01 25:00'
SELECT timestamptz '2024-01-01 10:00 Nowhere'
SELECT time '25:00'
SELECT time '10:60'
SELECT date 'foo'
SELECT date '10000000-01-01'
SELECT timestamp '300000-01-01'
SELECT time '10:20:30.1234567', time '04:05 PM', time '040506', time 'allballs', time '24:00', time '10:00'::time(0), '10:20:30.6'::time(0)
SELECT timestamp(0) '2024-01-01 10:20:30.6', timestamp(3) '2024-01-01 10:20:30.123456', timestamptz(1) '2024-01-01 00:00:00.16+00', '2024-01-01 23:59:59.9'::timestamp(0)
SELECT d, t, ts, tz, iv FROM tm ORDER BY id
SELECT d+1, d - interval '1 day', ts + iv, tz - iv, t + iv, ts::date, tz::date, ts::time, d::timestamp, d::timestamptz FROM tm WHERE id NOT IN (4) ORDER BY id
SELECT extract(year from ts), extract(week from d), date_part('dow', tz), extract(epoch from iv), date_trunc('month', tz), to_char(ts, 'DD Mon YYYY HH24:MI:SS.US') FROM tm ORDER BY id
SELECT ts - tz::timestamp, age(ts, timestamp '2000-01-01'), ts AT TIME ZONE 'UTC', tz AT TIME ZONE 'UTC' FROM tm WHERE id NOT IN (4) ORDER BY id
SELECT min(d), max(d), min(ts), max(tz), min(t), max(t), min(iv), max(iv), sum(iv), avg(iv), count(d) FROM tm WHERE id <> 4
SELECT sum(t), avg(t) FROM tm WHERE id IN (1, 7)
SELECT id FROM tm WHERE d BETWEEN '2000-01-01' AND '2024-12-31' ORDER BY id
SELECT id FROM tm ORDER BY ts DESC NULLS LAST
SELECT id FROM tm WHERE ts = tz ORDER BY id
SELECT d = ts, d < tz, ts > d, d::text, ts::text, tz::text, t::text, iv::text FROM tm ORDER BY id
SELECT to_char(timestamp '2024-07-04 15:06:07.089012', 'YYYY YYY YY Y IYYY IYY IY I Q MM MON Mon mon MONTH Month month'), to_char(timestamp '2024-07-04 15:06:07.089012', 'DAY Day day DY Dy dy DDD IDDD DD D ID W WW IW CC J'), to_char(timestamp '2024-07-04 15:06:07.089012', 'HH HH12 HH24 MI SS MS US FF1 FF3 FF6 SSSS SSSSS AM A.M. pm p.m.'), to_char(timestamp '2024-07-04 15:06:07.089012', 'RM rm BC A.D. bc a.d. Y,YYY')
SELECT to_char(timestamp '2024-07-04', 'FMMonth FMDD, YYYY'), to_char(timestamp '2024-07-04', 'FMDay'), to_char(timestamp '2024-07-04', 'DDth'), to_char(timestamp '2024-07-04', 'DDTH'), to_char(timestamp '2024-07-04', '"Year:" YYYY'), to_char(timestamp '2024-07-04', 'YYYY\"x'), to_char(timestamp '2024-07-04', 'TMMonth TMDay'), to_char(timestamp '2024-07-04', 'FXYYYY'), to_char(timestamp '2024-07-04', 'abc'), to_char(timestamp '2024-07-04', 'HH24hMI')
SELECT to_char(timestamptz '2024-07-04 12:00+00', 'TZ tz TZH TZM OF'), to_char(timestamp '2024-07-04', 'TZ|OF'), to_char(date '2024-07-04', 'YYYY-MM-DD'), to_char(timestamp '0044-03-15 BC', 'YYYY BC'), to_char(timestamp '0044-03-15 BC', 'FMYYYY IYYY CC J')
SELECT to_char(time '10:20:30', 'HH24:MI'), to_char(interval '25:10:20', 'HH24:MI:SS')
SELECT to_char(timestamp 'infinity', 'YYYY'), to_char(NULL::timestamp, 'YYYY'), to_char(timestamp '2024-01-01', '')
SELECT current_date = now()::date, current_timestamp = now(), localtimestamp = now()::timestamp, now() = transaction_timestamp(), statement_timestamp() <= clock_timestamp(), timeofday() IS NOT NULL
SELECT current_time IS NOT NULL
SELECT localtime = now()::time, current_timestamp(0) = now()::timestamptz(0)
SELECT pg_typeof(date '2024-01-01' - date '2023-01-01'), pg_typeof(now() - now()), pg_typeof(date '2024-01-01' + 1), pg_typeof(date '2024-01-01' + interval '1 day'), pg_typeof(extract(year from now())), pg_typeof(date_part('year', now())), pg_typeof(now()), pg_typeof(current_date), pg_typeof(age(now())), pg_typeof(timestamp '2024-01-01' - timestamp '2023-01-01'), pg_typeof(date_trunc('day', date '2024-01-01'))
SELECT generate_series(timestamp '2024-01-01', '2024-01-03', '12 hours')
SELECT * FROM generate_series(timestamptz '2024-03-30', '2024-04-01', '1 day') g ORDER BY 1
SELECT * FROM generate_series(date '2024-01-01', date '2024-01-03', '1 day') g ORDER BY 1
SELECT * FROM generate_series(timestamp '2024-01-31', '2024-06-01', '1 month') g ORDER BY 1
SELECT generate_series(timestamp '2024-01-01', '2024-01-03', '0 days')
SELECT date '2024-01-01' + date '2024-01-01'
SELECT timestamp '2024-01-01' + timestamp '2024-01-01'
SELECT time '10:00' + time '11:00'
SELECT date '2024-01-01' * 2
SELECT date '2024-01-01' = '2024-01-01', date '2024-01-01' IN ('2024-01-01', '2024-01-02'), '2024-01-01' <= date '2024-01-02', timestamp '2024-01-01' BETWEEN '2023-01-01' AND '2025-01-01'
SELECT timestamp '2024-03-31 02:30'::timestamptz, timestamp '2024-10-27 02:30'::timestamptz, timestamptz '2024-10-27 00:30+00'::timestamp, timestamptz '1900-01-01 00:00+00'
SELECT justify_days(interval '35 days'), justify_hours(interval '27 hours'), justify_interval(interval '1 mon -1 hour'), justify_interval(interval '-1 day 25 hours'), justify_days(interval '-65 days'), justify_hours(interval '-25:00')

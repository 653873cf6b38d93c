SHOW TimeZone
SET TimeZone = 'UTC'; SHOW TimeZone; SELECT timestamptz '2024-07-01 12:00+02'; SET TimeZone = 'Europe/Berlin'
SET TimeZone = 'Nowhere/Land'
SET nosuch = 1
SHOW nosuch
SET DateStyle = 'ISO, DMY'; SELECT date '02/03/2024'; SET DateStyle = 'ISO, MDY'; SELECT date '02/03/2024'; RESET DateStyle
SHOW DateStyle
SET DateStyle = 'German'; SELECT date '2024-03-02', timestamp '2024-03-02 10:00'; RESET DateStyle
SET extra_float_digits = 0; SELECT 0.1::float8 + 0.2, 1.1::float4; SET extra_float_digits = 1; SELECT 0.1::float8 + 0.2
SET bytea_output = 'escape'; SELECT '\x00ff61'::bytea; RESET bytea_output
SHOW standard_conforming_strings
SHOW client_encoding
SHOW transaction_isolation
SHOW server_encoding
SHOW integer_datetimes
SHOW search_path
SET search_path = public; SHOW search_path; RESET search_path
SET statement_timeout = '5s'; SHOW statement_timeout; RESET statement_timeout
SET application_name = 'x'; SHOW application_name; SELECT current_setting('application_name'); RESET application_name
SELECT current_setting('nosuch')
SELECT current_setting('nosuch', true)
SELECT set_config('application_name', 'y', false), current_setting('application_name')
SELECT current_schema(), current_database(), current_user, session_user, current_catalog
BEGIN; SET LOCAL TimeZone = 'UTC'; SHOW TimeZone; COMMIT; SHOW TimeZone
BEGIN; SET TimeZone = 'UTC'; ROLLBACK; SHOW TimeZone
SET client_encoding = 'UTF8'
SET client_encoding = 'nosuch'
SET TIME ZONE 'Asia/Tokyo'; SHOW TimeZone; SET TIME ZONE 'Europe/Berlin'
SET TIME ZONE INTERVAL '+05:30' HOUR TO MINUTE; SELECT timestamptz '2024-01-01 00:00+00'; SET TIME ZONE 'Europe/Berlin'
SHOW default_transaction_isolation
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE
RESET nosuch
DISCARD ALL
SET TimeZone = 'Europe/Berlin'
PREPARE p (int) AS SELECT $1 + 1; EXECUTE p(41); DEALLOCATE p
EXECUTE nosuch
DEALLOCATE nosuch

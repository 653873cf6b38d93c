SELECT upper('straße')
SELECT octet_length('é')
SELECT substr('abc',-1,3)
SELECT 'a_c' like 'a\_c'
SELECT 'a%c' like 'a\%c'
SELECT 'abc' ~ '^a'
SELECT 'abc' ~ 'b'
SELECT 'abc'::varchar(2)
SELECT lpad('a',3)
SELECT initcap('hello wOrld')
SELECT chr(0)
SELECT to_char(1234.5,'9,999.99')
SELECT format('%s-%s',1,2)
SELECT quote_literal('a''b')
SELECT cast('4.5' as int)
SELECT cast('abc' as int)
SELECT cast('on' as boolean)
SELECT ''::int
SELECT hashtext('a') IS NOT NULL
SELECT hashtext('a'), hashtext(''), hashtext('hello world'), hashtext('ünï'), hashtext('a longer text with more than twelve bytes'), hashint4(1), hashint8(1), hashint8(-5), hashint2(3::int2)
SELECT format('%s %I %L', 'a', 'b c', 'd''e'), format('%2$s %1$s', 'a', 'b'), format('%%'), format('%10s|%-10s|', 'a', 'b'), format('%L', NULL), format('%s', NULL), format('%I', 'Select'), format('x'), format('%*s', 5, 'a'), format('%-*s|', 5, 'a'), format('%s %s', 1.50, true)
SELECT format('%s')
SELECT format('%I', NULL)
SELECT format('%x', 1)
SELECT format('%', 1)
SELECT format('%0$s', 1)
SELECT format(NULL, 1)
SELECT quote_ident('abc'), quote_ident('Abc'), quote_ident('a b'), quote_ident('select'), quote_ident('a"b'), quote_ident(''), quote_ident('_x1'), quote_ident('1a'), quote_ident('user'), quote_ident('name')
SELECT quote_nullable('a'), quote_nullable(NULL), quote_nullable(5), quote_literal(5), quote_literal(NULL), quote_literal('a\b')
SELECT upper('abc'), lower('ABC'), upper('ÄÖ'), lower('ÄÖ'), initcap('ab-cd ef_gh 1ab'), upper(''), lower(NULL)
SELECT length('abc'), length(''), length('日本'), char_length('日本'), character_length('ab'), octet_length('日本'), length('ab '::char(5))
SELECT substring('hello' from 2), substring('hello' from 2 for 3), substring('hello', 0, 3), substring('hello' for 2), substring('hello' from -5), substr('hello', 2), substring('日本語' from 2 for 1)
SELECT substring('hello' from 2 for -1)
SELECT substring('foobar' from 'o+b'), substring('foobar' from 'x'), substring('foobar' similar '%#"o_b#"%' escape '#'), substring('foobar' from '#"f%#"b%' for '#')
SELECT position('lo' in 'hello'), position('' in 'abc'), position('x' in 'abc'), strpos('hello', 'l'), position('本' in '日本')
SELECT left('hello', 2), left('hello', -2), left('hello', 0), right('hello', 2), right('hello', -2), left('日本語', 2), right('日本語', 1), left('a', 5)
SELECT lpad('hi', 5), lpad('hi', 5, 'xy'), lpad('hello', 2), rpad('hi', 5, 'xy'), rpad('hi', 0), lpad('', 3, 'ab'), lpad('x', 3, '')
SELECT ltrim('  a'), rtrim('a  '), btrim('  a  '), trim('xxaxx', 'x'), trim(leading 'x' from 'xxa'), trim(trailing 'x' from 'axx'), trim(both from '  a  '), ltrim('abcabd', 'abc'), trim('é' from 'éaé'), btrim('xyxtrimyyx', 'xyz')
SELECT replace('abcabc', 'b', 'XX'), replace('abc', '', 'x'), replace('', 'a', 'b'), translate('12345', '143', 'ax'), translate('abc', 'abc', ''), reverse('abc'), reverse('日本'), repeat('ab', 3), repeat('a', 0)
SELECT overlay('Txxxxas' placing 'hom' from 2 for 4), overlay('abc' placing 'X' from 2), overlay('abc' placing 'XYZ' from 3 for 0)
SELECT overlay('abc' placing 'x' from 0)
SELECT split_part('a,b,c', ',', 1), split_part('a,b,c', ',', 4), split_part('a,b,c', ',', -1), split_part('', ',', 1), split_part('abc', '', 1), split_part('a--b--c', '--', 2)
SELECT split_part('a', ',', 0)
SELECT ascii('a'), ascii(''), ascii('é'), chr(97), chr(233), chr(26085), chr(128512)
SELECT chr(-1)
SELECT chr(1114112)
SELECT chr(55296)
SELECT md5('abc'), md5(''), md5('\x00'::bytea), sha224('abc'::bytea), sha256('abc'::bytea), sha384('abc'::bytea), sha512('abc'::bytea)
SELECT starts_with('alphabet', 'alph'), 'alphabet' ^@ 'alph', starts_with('a', 'b'), starts_with('a', '')
SELECT concat('a', NULL, 1, true), concat(), concat(NULL), concat_ws(',', 'a', NULL, 'b'), concat_ws(NULL, 'a', 'b'), concat_ws(',', 1, 2.50, true, date '2024-01-01')
SELECT concat('a', NULL, 1, true), concat(NULL), concat_ws(',', 'a', NULL, 'b'), concat_ws(NULL, 'a', 'b'), concat_ws(',', 1, 2.50, true, date '2024-01-01')
SELECT 'a' || 'b', 'a' || 1, 1 || 'a', 'a' || NULL, 'a' || 1.50, 'a' || true, 'x' || date '2024-01-01', 'ab '::char(4) || 'x'
SELECT 1 || 2
SELECT 'a' < 'b', 'a' < 'B', 'abc' < 'abd', 'a' = 'a ', 'a'::char(3) = 'a', 'é' > 'z', '' < 'a', 'a' COLLATE "C" < 'b'
SELECT 'a' COLLATE "nosuch" < 'b'
SELECT 'a' COLLATE "en_US" < 'b'
SELECT 'a' COLLATE "POSIX" < 'b', 'a' COLLATE "default" = 'a', 'a' COLLATE ucs_basic < 'b'
SELECT 1 COLLATE "C"
SELECT t, upper(t), lower(t), initcap(t), length(t), reverse(t), left(t, 3), right(t, 3), md5(t) FROM s ORDER BY id
SELECT v, c, v || c, c || v, length(v), length(c), octet_length(v), octet_length(c), c = 'ab', v = 'Alpha', c::text FROM s ORDER BY id
SELECT v::char(2), c::varchar(2), t::varchar(3), t::char(3), v::text FROM s ORDER BY id
SELECT min(t), max(t), min(v), max(v), min(c), max(c), count(t), count(DISTINCT c), string_agg(t, ',' ORDER BY t) FROM s
SELECT string_agg(t, '|' ORDER BY id DESC), string_agg(DISTINCT c, ',' ORDER BY c), string_agg(v, NULL ORDER BY id), string_agg(NULL::text, ','), string_agg(y, '\x00' ORDER BY id) FROM s
SELECT t FROM s ORDER BY t
SELECT t FROM s ORDER BY t COLLATE "C" DESC
SELECT id FROM s WHERE t LIKE '%a%' ORDER BY id
SELECT id FROM s WHERE v ILIKE 'A%' ORDER BY id
SELECT id FROM s WHERE c = 'x' ORDER BY id
SELECT id FROM s WHERE t > 'b' ORDER BY id
SELECT 'abc'::char, 'abc'::char(2), 'a'::char(3), 'abc'::varchar, 'abc'::varchar(1), ''::char(2) || '|', 'abc'::bpchar, 'abc '::bpchar = 'abc'
SELECT 'abc'::varchar(0)
SELECT 'a'::"char", 'abc'::"char", 'abc'::name, 'abc'::text::name, repeat('x', 70)::name, 'a'::name = 'a', 'a'::name || 'b', length('abc'::name)
SELECT encode('abc', 'hex'), encode('abc', 'base64'), encode('\x00ff', 'escape'), decode('616263', 'hex'), decode('YWJj', 'base64'), decode('a\\000b', 'escape'), decode('YW Jj', 'base64')
SELECT decode('abc', 'hex')
SELECT decode('ab*', 'base64')
SELECT decode('abcde', 'base64')
SELECT decode('a\00', 'escape')
SELECT decode('a', 'nosuch')
SELECT convert_to('é', 'UTF8'), convert_from('\xc3a9', 'UTF8'), convert_from('\xe9', 'LATIN1'), convert_to('é', 'LATIN1')
SELECT convert_from('\xff', 'UTF8')
SELECT unistr('d\0061t\+000061'), unistr('a\\b')
SELECT unistr('\zz')
SELECT normalize('é')
SELECT string_to_array('a,b,c', ','), array_to_string(ARRAY['a','b',NULL], ',', '*'), string_to_array('abc', NULL), string_to_array('a,,b', ',', '')
SELECT parse_ident('a.b')
SELECT text 'abc', varchar 'abc', char 'a', E'a\tb', E'\x41', E'\u00e9', U&'\00e9', 'a' 'b'
SELECT $$a'b$$, $x$a$$b$x$, 'a''b', "a" FROM (SELECT 1 AS a) x
SELECT 'unterminated
SELECT ascii(NULL), concat(NULL, NULL), coalesce(NULL, 'a') || 'b', NULL || 'a'
SELECT pg_typeof('a'), pg_typeof('a'::text || 'b'), pg_typeof('a'::varchar || 'b'), pg_typeof(upper('a')), pg_typeof('a'::char(3)), pg_typeof(substring('a', 1)), pg_typeof(concat('a')), pg_typeof(quote_ident('a'))
SELECT strpos('abc'), 1
SELECT lower(5)
SELECT length(5)
SELECT upper('a', 'b')
SELECT regexp_count('abcabc', 'b'), regexp_instr('abcabc', 'b'), regexp_like('abc', 'B', 'i'), regexp_substr('foobar', 'o.'), regexp_count('abcabc', 'B', 1, 'i'), regexp_instr('abcabc', 'b', 3), regexp_substr('abcabd', 'ab(.)', 1, 2, '', 1)
SELECT to_hex(10), lpad(5::text, 3, '0'), 5::text || 'x', bit_length('é')
SELECT to_char(485, '999'), to_char(-485, '999'), to_char(485, '9 9 9'), to_char(1485, '9,999'), to_char(148.5, '999.999'), to_char(148.5, 'FM999.999'), to_char(148.5, 'FM999.990'), to_char(-0.1, '99.99'), to_char(-0.1, 'FM9.99'), to_char(0.1, '0.9'), to_char(12, '9990999.9'), to_char(12, 'FM9990999.9'), to_char(485, '999S'), to_char(-485, '999S'), to_char(485, '999MI'), to_char(-485, '999MI'), to_char(485, 'FM999MI'), to_char(485, 'PL999'), to_char(485, 'SG999'), to_char(-485, 'SG999'), to_char(-485, '9SG99'), to_char(-485, '999PR'), to_char(485, '999PR')
SELECT to_char(485, 'L999'), to_char(485, 'RN'), to_char(485, 'FMRN'), to_char(5.2, 'FMRN'), to_char(482, '999th'), to_char(485, '"Good number:"999'), to_char(485.8, '"Pre:"999" Post:" .999'), to_char(12, '99V999'), to_char(12.4, '99V999'), to_char(12.45, '99V9'), to_char(0.0004859, '9.99EEEE'), to_char(-123456, '9.999EEEE'), to_char(1234567, '9G999G999'), to_char(1.5, '9D99'), to_char(123, '00000'), to_char(123, 'FM00000'), to_char(-123, '00000'), to_char(12345, '999'), to_char(12345.678, '999.9'), to_char(0, '999'), to_char(0, 'FM999'), to_char(0, '000'), to_char(0.5, '.99'), to_char(1.5, '.99'), to_char(0, '9.9'), to_char(0.0, 'FM9.9')
SELECT to_char(125::float8, '999.9'), to_char(125.8::float4, '999D99'), to_char(1e10::float8, '99999999999'), to_char('NaN'::float8, '999'), to_char('Infinity'::float8, '999.9'), to_char(12345678901::bigint, '99,999,999,999'), to_char('NaN'::numeric, '999'), to_char(3::int2::int, '9'), to_char(-5, 'S9'), to_char(5, 'S9'), to_char(-5, 'MI9'), to_char(5, 'MI9')
SELECT to_char(1, '9.9.9')
SELECT to_char(1, 'S9S')
SELECT to_char(1, 'RN9')
SELECT to_char(-1, 'SPR9')
SELECT to_char(NULL::int, '9'), to_char(1, NULL), to_char(1, '')
SELECT to_number('12,454.8-', '99G999D9S'), to_number('1234', '9999'), to_number('-1.5', 'S9.9'), to_number('1,234.50', '9,999.99'), to_number('$12', 'L99'), to_number('(12)', '99PR'), to_number('12', '9'), to_number('  12 ', '9999'), to_number('12abc', '99'), to_number('1.2', '9D9')
SELECT to_number('abc', '999')
SELECT to_number('', '999')

SELECT 'abc' LIKE 'abc', 'abc' LIKE 'a%', 'abc' LIKE '_b_', 'abc' LIKE 'c', 'abc' NOT LIKE 'a%', 'abc' LIKE '', '' LIKE '', '' LIKE '_', 'a\b' LIKE 'a\\b', 'ab' LIKE 'a_%', '日本' LIKE '日_'
SELECT 'a_b' LIKE 'a#_b' ESCAPE '#', 'axb' LIKE 'a#_b' ESCAPE '#', 'a\b' LIKE 'a\b' ESCAPE '', 'a%' LIKE 'a%%' ESCAPE '%'
SELECT 'abc' LIKE 'a' ESCAPE 'xx'
SELECT 'abc' LIKE 'abc\'
SELECT 'ABC' ILIKE 'a%', 'aBc' ILIKE '_B_', 'abc' NOT ILIKE 'A%', 'ÄB' ILIKE 'äb'
SELECT 'abc' ~~ 'a%', 'abc' !~~ 'a%', 'abc' ~~* 'A%', 'abc' !~~* 'A%'
SELECT NULL LIKE 'a', 'a' LIKE NULL, 'abc'::varchar LIKE 'a%', 'abc'::char(5) LIKE 'abc  ', 'abc'::char(5) LIKE 'abc'
SELECT 5 LIKE '5'
SELECT 'abc' SIMILAR TO 'abc', 'abc' SIMILAR TO 'a', 'abc' SIMILAR TO '%(b|d)%', 'abc' SIMILAR TO '(b|c)%', 'abc' NOT SIMILAR TO 'a%', 'a+b' SIMILAR TO 'a\+b', 'aab' SIMILAR TO 'a{2}b', 'a.c' SIMILAR TO 'a.c', 'abc' SIMILAR TO 'a.c', 'abc' SIMILAR TO 'a[bx]c', 'ab' SIMILAR TO 'a#b' ESCAPE '#', NULL SIMILAR TO 'a'
SELECT 'abc' ~ 'a.c', 'abc' ~ '^b', 'abc' ~* 'ABC', 'abc' !~ 'x', 'abc' !~* 'B', E'a\nb' ~ 'a.b'
SELECT 'abc' ~ '[[:alpha:]]+', 'a1' ~ '^\w\d$', 'a b' ~ '\s', 'abc' ~ 'a{1}b', 'aaa' ~ '^a{2,3}$', 'ab' ~ '^(a|b)+$', 'a.b' ~ 'a\.b', 'foo' ~ '^fo{2}$', 'x' ~ '[^a-c]', 'abc' ~ '(?:ab)c'
SELECT 'foobar' ~ '\mfoo', 'foo bar' ~ '\mbar\M', 'foo bar' ~ '\yfoo\y', 'foobar' ~ 'foo\Y', 'abc' ~ '\Aabc\Z', 'foobar' ~ '[[:<:]]foo'
SELECT 'abab' ~ '^(ab)\1$'
SELECT 'foobar' ~ 'foo(?=bar)', 'foobaz' ~ 'foo(?!bar)', 'xbar' ~ '(?<=x)bar'
SELECT 'ABC' ~ '(?i)abc', 'abc' ~ '***=a.c', 'a.c' ~ '***=a.c', 'abc' ~ '(?x)a b c'
SELECT 'a' ~ '('
SELECT 'a' ~ '['
SELECT 'a' ~ '*a'
SELECT 'a' ~ 'a{2,1}'
SELECT 'a' ~ 'a**'
SELECT 'a' ~ '\'
SELECT regexp_replace('foobarbaz', 'b..', 'X'), regexp_replace('foobarbaz', 'b..', 'X', 'g'), regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g'), regexp_replace('abc', 'B', 'x', 'i'), regexp_replace('abc', 'x', 'y'), regexp_replace('abc', '', '-', 'g'), regexp_replace('a.b', '\.', '\\'), regexp_replace('abc', '(a)(b)(c)', '\3\2\1'), regexp_replace('foo', 'o', '\&\&', 'g'), regexp_replace('aaa', 'a', 'b', 2), regexp_replace('aaa', 'a', 'b', 1, 2), regexp_replace('aAa', 'a', 'b', 1, 0, 'i')
SELECT regexp_replace('abc', 'b', 'x', 'z')
SELECT regexp_match('foobarbequebaz', '(bar)(beque)'), regexp_match('abc', 'x'), regexp_match('abc', 'b'), regexp_match('ABC', 'b', 'i')
SELECT regexp_matches('foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'g')
SELECT regexp_split_to_array('hello world  foo', '\s+'), regexp_split_to_array('abc', ''), regexp_split_to_array('a,b,c', ',')
SELECT regexp_split_to_table('hello world', '\s+')
SELECT regexp_count('ababab', 'ab'), regexp_count('ABab', 'ab', 1, 'i'), regexp_like('abc', 'a.c'), regexp_instr('foobar', 'b', 1, 1, 1), regexp_substr('foobar', 'x')
SELECT regexp_count('abc', 'b', 0)
SELECT substring('foobar' from 'o(.)b'), substring('foobar' from 'o.b'), substring('abc', '(x)?b'), substring('XY1234Z', 'Y*([0-9]{1,3})'), substring('XY1234Z', 'Y*?([0-9]{1,3})')
SELECT substring('foobarfoo' from 'fo*'), regexp_replace('xaaay', 'a*', 'b'), regexp_replace('aab', 'a+?', 'X'), substring('abcd' from 'a|ab|abc'), substring('xyz' from '(x|xy)(z|yz)')
SELECT id, t ~ 'a', t ~* 'BETA', t ~ '^\w+$', regexp_replace(t, '[aeiou]', '*', 'g') FROM s ORDER BY id
SELECT id FROM s WHERE t SIMILAR TO '%(lpha|eta)%' ORDER BY id
SELECT 'abc' ~ NULL, NULL ~ 'a', regexp_replace(NULL, 'a', 'b'), 'abc'::varchar ~ 'b', 'ab'::char(5) ~ 'b$'
SELECT 'ab' LIKE ANY (ARRAY['a%','x%']), 'ab' LIKE ALL (ARRAY['a%','%b']), 'ab' ~ ANY (ARRAY['a','x']), 'ab' ILIKE ANY ('{A%,x}')
SELECT 'a]b' ~ '[]]', 'a-b' ~ '[a\-z]', 'tab	x' ~ '\t', 'aé' ~ '^\w+$', 'É' ~* 'é', 'a1b2' ~ '^([a-z]\d)+$'

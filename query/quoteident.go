package query

import (
	"strings"
)

// quoteEntries write values so that they can be read back as parts of a statement.
var quoteEntries = []entry{
	{name: "quote_ident", args: "t", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return appendIdent(d, string(a[0])), nil }},
	{name: "quote_nullable", args: "t", ret: "t", nulls: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		if a[0] == nil {
			return append(d, "NULL"...), nil
		}
		return quoteLiteral(f, d, a)
	}},
	{name: "quote_nullable", args: "?", ret: "t", sql: "tr_f_quote_nullable_text({1:o})"},
}

// appendIdent is quote_ident: quoted unless it is a plain lower-case word that is no keyword, or only an unreserved one.
func appendIdent(dst []byte, s string) []byte {
	plain := s != "" && !quotedWords[s]
	for i := range len(s) {
		c := s[i]
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// quotedWords are PostgreSQL 15's keywords but the unreserved ones.
var quotedWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
		all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character check
		coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema
		current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract false fetch
		float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect interval
		into is isnull join lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull
		null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real references returning
		right row select session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing treat
		trim true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists
		xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		m[w] = true
	}
	return m
}()

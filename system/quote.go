package system

import "strings"

// keywords are the words of PostgreSQL's grammar that quote_ident quotes: all but the unreserved ones.
const keywords = " all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character check " +
	"coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time " +
	"current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign freeze " +
	"from full grant greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading " +
	"least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or order out " +
	"outer overlaps overlay placing position precision primary real references returning right row select session_user setof similar smallint some " +
	"substring symmetric table tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when " +
	"where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable "

// Quote is name as an SQL identifier, in quotes where it needs them: PostgreSQL's quote_ident.
func Quote(name string) string {
	plain := name != "" && !strings.Contains(keywords, " "+name+" ")
	for i, c := range name {
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// parts splits a name as SQL writes it: parts between points, in quotes or folded to lower case. ok is false when it is no such name.
func parts(text string) (list []string, ok bool) {
	rest := strings.Trim(text, " \t\n\r")
	for {
		var part string
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for end < len(rest) && (rest[end] != '"' || strings.HasPrefix(rest[end:], `""`)) {
				if rest[end] == '"' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return nil, false
			}
			part, rest = strings.ReplaceAll(rest[1:end], `""`, `"`), rest[end+1:]
		} else {
			end := strings.IndexAny(rest, ". \t\n\r")
			if end < 0 {
				end = len(rest)
			}
			part, rest = lower(rest[:end]), rest[end:]
		}
		if part == "" {
			return nil, false
		}
		list = append(list, part)
		rest = strings.TrimLeft(rest, " \t\n\r")
		if rest == "" {
			return list, true
		}
		if rest[0] != '.' {
			return nil, false
		}
		rest = strings.TrimLeft(rest[1:], " \t\n\r")
	}
}

// lower folds ASCII letters, as SQL does outside quotes.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

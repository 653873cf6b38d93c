package query

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRandomExpressionsAgreeWithPostgres compares functions with rules of their own for digits, pictures and templates, on random arguments.
func TestRandomExpressionsAgreeWithPostgres(t *testing.T) {
	e := engine(t)
	c := connect(t)
	const seed = 11
	rnd := rand.New(rand.NewPCG(seed, seed))
	for name, make := range map[string]func(*rand.Rand) string{
		"power": randomPower, "logarithm": randomLog, "picture": randomPicture, "number": randomNumber, "template": randomTemplate, "date": randomDate,
		"arithmetic": randomArithmetic, "text": randomFunction, "calendar": randomCalendar,
	} {
		t.Run(name, func(t *testing.T) {
			for range 80 {
				sql := "SELECT " + make(rnd)
				if d := compare(sql, askPostgres(t, c, sql), ask(e, tables{}, sql, nil, nil)); d != "" {
					t.Errorf("seed %d: %s", seed, d)
				}
			}
		})
	}
}

// decimal is a random numeric of up to so many digits before and behind the point.
func decimal(rnd *rand.Rand, whole, fraction int) string {
	var b strings.Builder
	if rnd.IntN(3) == 0 {
		b.WriteByte('-')
	}
	for range rnd.IntN(whole) + 1 {
		b.WriteByte(byte('0' + rnd.IntN(10)))
	}
	if n := rnd.IntN(fraction + 1); n > 0 {
		b.WriteByte('.')
		for range n {
			b.WriteByte(byte('0' + rnd.IntN(10)))
		}
	}
	return b.String()
}

func above(rnd *rand.Rand, whole, fraction int) string {
	return strings.TrimPrefix(decimal(rnd, whole, fraction), "-")
}

func randomPower(rnd *rand.Rand) string {
	base, exponent := decimal(rnd, 5, 6), decimal(rnd, 2, 3)
	if rnd.IntN(3) == 0 {
		base, exponent = "0."+above(rnd, 6, 0), decimal(rnd, 1, 0)
	}
	return fmt.Sprintf("(%s)::numeric ^ (%s)::numeric, exp((%s)::numeric)", base, exponent, decimal(rnd, 2, 5))
}

func randomLog(rnd *rand.Rand) string {
	near := "1." + strings.Repeat("0", rnd.IntN(12)) + above(rnd, 5, 0)
	x := []string{above(rnd, 20, 10), near, "0." + strings.Repeat("0", rnd.IntN(20)) + above(rnd, 5, 0)}[rnd.IntN(3)]
	return fmt.Sprintf("ln(%s::numeric), log(%s::numeric), log(%s::numeric, %s::numeric), sqrt(%s::numeric)", x, x, above(rnd, 3, 3), x, x)
}

func randomPicture(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(9) + 1 {
		b.WriteString([]string{"9", "9", "9", "9", "0", "0", ",", ".", "S", "MI", "PL", "SG", "PR", "FM", "L", "G", "D", "V", "TH", "th", " ", "x", "\"q\"", "RN"}[rnd.IntN(24)])
	}
	kind := []string{"numeric", "numeric", "int", "float8", "float4", "bigint"}[rnd.IntN(6)]
	return fmt.Sprintf("to_char((%s)::%s, '%s')", decimal(rnd, 4, 3), kind, b.String())
}

func randomNumber(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(7) + 1 {
		b.WriteString([]string{"9", "9", "9", "9", "0", ",", ".", "S", "MI", "PR", "L", "G", "FM", "th", " "}[rnd.IntN(15)])
	}
	text := []string{decimal(rnd, 4, 2), " " + decimal(rnd, 3, 1), above(rnd, 2, 0) + "," + above(rnd, 3, 1), "<" + above(rnd, 2, 1) + ">", above(rnd, 3, 0) + "-", "$" + above(rnd, 3, 0)}[rnd.IntN(6)]
	return fmt.Sprintf("to_number('%s', '%s')", text, b.String())
}

func randomTemplate(rnd *rand.Rand) string {
	words := strings.Fields(`YYYY YYY YY Y IYYY IY MM MON Month mon DD DDD IDDD D ID HH HH12 HH24 MI SS MS US FF3 SSSS AM p.m. BC A.D. Day DY W WW IW CC J Q RM rm FMDD FMMonth DDth FMHH24th Y,YYY TMMon "at" - / : .`)
	var b strings.Builder
	for range rnd.IntN(6) + 1 {
		b.WriteString(words[rnd.IntN(len(words))])
		if rnd.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	value := fmt.Sprintf("timestamp '%s'", randomStamp(rnd))
	return fmt.Sprintf("to_char(%s, '%s')", value, b.String())
}

func randomStamp(rnd *rand.Rand) string {
	s := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d", 1+rnd.IntN(2400), 1+rnd.IntN(12), 1+rnd.IntN(28), rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000000))
	if rnd.IntN(8) == 0 {
		s += " BC"
	}
	return s
}

func randomDate(rnd *rand.Rand) string {
	templates := []string{
		"YYYY-MM-DD", "DD/MM/YY", "YYYYMMDD", "DD Mon YYYY", "Month DD, YYYY", "YYYY DDD", "IYYY-IW-ID", "MM.DD.YYYY BC", "FMDD.FMMM.YYYY", "YYYY-MM-DD HH24:MI:SS",
		"YYYYMMDDHH24MISS", "DD-MM-YYYY HH12:MI AM", "YYYY-MM-DD HH24:MI:SS.US", "CC YY MM", "J", "YYY MM DD", "Y,YYY DD", "HH24MI", "YYYY\"y\"MM", "WW YYYY", "DDth Mon YYYY", "FXYYYY MM DD",
	}
	from := templates[rnd.IntN(len(templates))]
	to := from
	if rnd.IntN(4) == 0 {
		to = templates[rnd.IntN(len(templates))]
	}
	function := []string{"to_date", "to_timestamp"}[rnd.IntN(2)]
	return fmt.Sprintf("%s(to_char(timestamp '%s', '%s'), '%s')", function, randomStamp(rnd), from, to)
}

func randomArithmetic(rnd *rand.Rand) string {
	a, b := decimal(rnd, 10, 8), decimal(rnd, 4, 6)
	return fmt.Sprintf("(%s)::numeric / (%s)::numeric, (%s)::numeric %% (%s)::numeric, round((%s)::numeric, %d), div((%s)::numeric, (%s)::numeric), trunc((%s)::numeric, %d), (%s)::float8 * %s, width_bucket((%s)::numeric, -100, 1000, 7)",
		a, b, a, b, a, rnd.IntN(9)-3, a, b, a, rnd.IntN(9)-3, a, b, a)
}

func randomFunction(rnd *rand.Rand) string {
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(8) {
			b.WriteString([]string{"a", "b", "é", " ", "A", "''", "\"", "1", "%", "_", "日"}[rnd.IntN(11)])
		}
		return "'" + b.String() + "'"
	}
	n := func() int { return rnd.IntN(12) - 3 }
	return []string{
		fmt.Sprintf("format('%%s|%%I|%%L|%%%ds', %s, %s, %s, %s)", n(), text(), text(), text(), text()),
		fmt.Sprintf("split_part(%s, %s, %d)", text(), text(), n()),
		fmt.Sprintf("substring(%s, %d, %d), left(%s, %d), right(%s, %d)", text(), n(), max(n(), 0), text(), n(), text(), n()),
		fmt.Sprintf("lpad(%s, %d, %s), rpad(%s, %d, %s)", text(), n(), text(), text(), n(), text()),
		fmt.Sprintf("translate(%s, %s, %s), replace(%s, %s, %s)", text(), text(), text(), text(), text(), text()),
		fmt.Sprintf("overlay(%s placing %s from %d for %d)", text(), text(), n(), n()),
		fmt.Sprintf("quote_ident(%s), quote_literal(%s), initcap(%s), reverse(%s)", text(), text(), text(), text()),
		fmt.Sprintf("%s LIKE %s, %s ILIKE %s, %s SIMILAR TO %s", text(), text(), text(), text(), text(), text()),
		fmt.Sprintf("hashtext(%s), md5(%s), strpos(%s, %s)", text(), text(), text(), text()),
		fmt.Sprintf("btrim(%s, %s), ltrim(%s, %s), encode(convert_to(%s, 'UTF8'), 'escape')", text(), text(), text(), text(), text()),
	}[rnd.IntN(10)]
}

func randomCalendar(rnd *rand.Rand) string {
	stamp := func() string { return "timestamp '" + randomStamp(rnd) + "'" }
	span := func() string {
		return fmt.Sprintf("interval '%d mons %d days %d seconds'", rnd.IntN(80)-40, rnd.IntN(80)-40, rnd.IntN(200000)-100000)
	}
	return []string{
		fmt.Sprintf("age(%s, %s)", stamp(), stamp()),
		fmt.Sprintf("%s + %s, %s - %s", stamp(), span(), stamp(), stamp()),
		fmt.Sprintf("justify_interval(%s), justify_days(%s), justify_hours(%s)", span(), span(), span()),
		fmt.Sprintf("%s * %s, %s / %s", span(), decimal(rnd, 1, 2), span(), above(rnd, 1, 1)+"7"),
		fmt.Sprintf("extract(epoch from %s), extract(week from %s), extract(isodow from %s), date_trunc('quarter', %s)", span(), stamp(), stamp(), stamp()),
		fmt.Sprintf("date_bin('%d minutes', %s, %s)", 1+rnd.IntN(500), stamp(), stamp()),
		fmt.Sprintf("to_char(%s, 'YYYY MM DD HH24:MI:SS.MS')", span()),
		fmt.Sprintf("(%s, %s) OVERLAPS (%s, %s)", stamp(), stamp(), stamp(), stamp()),
		fmt.Sprintf("make_interval(%d, %d, %d, %d, %d, %d, %s)", rnd.IntN(9)-4, rnd.IntN(40)-20, rnd.IntN(9), rnd.IntN(90)-40, rnd.IntN(90)-40, rnd.IntN(200), decimal(rnd, 2, 3)),
		fmt.Sprintf("%s::timestamptz, %s AT TIME ZONE 'America/New_York'", stamp(), stamp()),
	}[rnd.IntN(10)]
}

package format

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
	"tailrace/internal/pgtest"
)

// peer is a session on a real PostgreSQL with the same settings as ours.
type peer struct {
	conn     *pgconn.PgConn
	mood     tailrace.Type // an enum of moodLabels
	settings *Settings
}

var moodLabels = []string{"sad", "ok", "", "NULL", "a b", "é,\\{\""}

// typeOf is the type of kind k without a modifier.
func (p *peer) typeOf(k tailrace.Kind) tailrace.Type {
	if k == tailrace.KindEnum {
		return p.mood
	}
	return typ(k)
}

// types are all types that PostgreSQL has too: each kind and its array.
func (p *peer) types() (out []tailrace.Type) {
	for k := tailrace.KindBool; k.Valid(); k++ {
		if k != tailrace.KindForeign && k != tailrace.KindArray {
			out = append(out, p.typeOf(k), tailrace.ArrayOf(p.typeOf(k)))
		}
	}
	return out
}

// probe is what PostgreSQL makes of an input: its text and binary forms, or an error.
const probeFunction = `CREATE OR REPLACE FUNCTION probe(v text, call text, send text) RETURNS text[] LANGUAGE plpgsql AS $f$
DECLARE r text[]; c text; m text; d text; h text;
BEGIN
	EXECUTE format('SELECT ARRAY[format(''%%s'', x), encode(%s(x), ''hex'')] FROM (SELECT ' || call || ' AS x) s', send, v) INTO r;
	RETURN r;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS c = RETURNED_SQLSTATE, m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
	RETURN ARRAY[NULL, NULL, c, m, d, h];
END $f$`

func newPeer(t testing.TB, style, order, intervalStyle, zone string, extraFloat int, hexBytes bool) *peer {
	t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, pgtest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	output := "escape"
	if hexBytes {
		output = "hex"
	}
	run(t, conn, fmt.Sprintf("SET datestyle = '%s, %s'; SET intervalstyle = '%s'; SET timezone = '%s'; SET extra_float_digits = %d; SET bytea_output = %s; SET lc_messages = 'C'",
		style, order, intervalStyle, zone, extraFloat, output))
	run(t, conn, "SELECT pg_advisory_lock(1); "+probeFunction+"; SELECT pg_advisory_unlock(1)")
	run(t, conn, fmt.Sprintf("CREATE TYPE pg_temp.mood AS ENUM ('%s')", strings.Join(moodLabels, "', '")))
	oid, err := strconv.Atoi(string(run(t, conn, "SELECT 'mood'::regtype::oid")[0][0]))
	if err != nil {
		t.Fatal(err)
	}
	mood := tailrace.Type{Kind: tailrace.KindEnum, Mod: -1, Name: "mood", ID: tailrace.CollectionID(uint32(oid) - tailrace.UserOID(0))}
	loc, err := ParseTimeZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, conn, "SHOW timezone")[0][0]; loc.String() != string(got) {
		t.Errorf("time zone %q: got name %s, want %s", zone, loc, got)
	}
	return &peer{conn, mood, &Settings{
		Location: loc, DateStyle: style, DateOrder: order, IntervalStyle: intervalStyle, ByteaHex: hexBytes, ExtraFloatDigits: extraFloat,
		Labels: func(id tailrace.CollectionID) []string {
			if id == mood.ID {
				return moodLabels
			}
			return nil
		},
	}}
}

func run(t testing.TB, conn *pgconn.PgConn, sql string) [][][]byte {
	t.Helper()
	results, err := conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return results[len(results)-1].Rows
}

// calls gives for each kind how SQL calls its input function, with places for the value and the modifier, and its send function.
var calls = map[tailrace.Kind][2]string{
	tailrace.KindBool: {"boolin(%L)", "boolsend"}, tailrace.KindInt2: {"int2in(%L)", "int2send"}, tailrace.KindInt4: {"int4in(%L)", "int4send"},
	tailrace.KindInt8: {"int8in(%L)", "int8send"}, tailrace.KindFloat4: {"float4in(%L)", "float4send"}, tailrace.KindFloat8: {"float8in(%L)", "float8send"},
	tailrace.KindNumeric: {"numeric_in(%L, 0, MOD)", "numeric_send"}, tailrace.KindText: {"textin(%L)", "textsend"},
	tailrace.KindVarchar: {"varcharin(%L, 0, MOD)", "varcharsend"}, tailrace.KindChar: {"bpcharin(%L, 0, MOD)", "bpcharsend"},
	tailrace.KindBytea: {"byteain(%L)", "byteasend"}, tailrace.KindDate: {"date_in(%L)", "date_send"}, tailrace.KindTime: {"time_in(%L, 0, MOD)", "time_send"},
	tailrace.KindTimestamp: {"timestamp_in(%L, 0, MOD)", "timestamp_send"}, tailrace.KindTimestamptz: {"timestamptz_in(%L, 0, MOD)", "timestamptz_send"},
	tailrace.KindInterval: {"interval_in(%L, 0, MOD)", "interval_send"}, tailrace.KindUUID: {"uuid_in(%L)", "uuid_send"},
	tailrace.KindJSON: {"json_in(%L)", "json_send"}, tailrace.KindJSONB: {"jsonb_in(%L)", "jsonb_send"}, tailrace.KindArray: {"%L::TYPE", "array_send"},
	tailrace.KindEnum: {"%L::TYPE", "enum_send"}, tailrace.KindOID: {"oidin(%L)", "oidsend"}, tailrace.KindName: {"namein(%L)", "namesend"},
	tailrace.KindLetter: {"charin(%L)", "charsend"}, tailrace.KindRegclass: {"%L::TYPE", "regclasssend"}, tailrace.KindRegtype: {"%L::TYPE", "regtypesend"},
	tailrace.KindRegproc: {"%L::TYPE", "regprocsend"}, tailrace.KindRegnspace: {"%L::TYPE", "regnamespacesend"}, tailrace.KindRegrole: {"%L::TYPE", "regrolesend"},
}

// compare checks that every input gives the same text, binary form and error here and there. seed is printed to replay generated inputs.
func (p *peer) compare(t *testing.T, typ tailrace.Type, inputs []string, seed string) {
	t.Helper()
	run(t, p.conn, "BEGIN")
	defer run(t, p.conn, "COMMIT")
	now, err := time.Parse("2006-01-02 15:04:05.999999", string(run(t, p.conn, "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')")[0][0]))
	if err != nil {
		t.Fatal(err)
	}
	s := *p.settings
	s.Now = now
	call := strings.NewReplacer("MOD", fmt.Sprint(typ.Mod), "TYPE", typ.String()).Replace(calls[typ.Kind][0])
	wrong := 0
	for len(inputs) > 0 && wrong < 40 {
		n := min(len(inputs), 500)
		for i, row := range p.probe(t, inputs[:n], call, calls[typ.Kind][1]) {
			want := strings.Join(row, " | ")
			if isFloat(typ) {
				want = oneNaN(want, typ.Kind)
			}
			if got := ours(typ, inputs[i], &s); got != want {
				wrong++
				t.Errorf("%v %q (%s)\n got %s\nwant %s", typ, inputs[i], seed, got, want)
			}
		}
		inputs = inputs[n:]
	}
}

// probe returns for each input the text and binary form, or SQLSTATE, message, detail and hint.
func (p *peer) probe(t *testing.T, inputs []string, call, send string) [][]string {
	t.Helper()
	array := make([]string, len(inputs))
	for i, in := range inputs {
		array[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(in) + `"`
	}
	sql := "SELECT p[1], p[2], p[3], p[4], p[5], p[6] FROM (SELECT probe(v, $2, $3) AS p FROM unnest($1::text[]) WITH ORDINALITY u(v, n) ORDER BY n) s"
	result := p.conn.ExecParams(context.Background(), sql,
		[][]byte{[]byte("{" + strings.Join(array, ",") + "}"), []byte(call), []byte(send)}, []uint32{1009, 25, 25}, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	rows := make([][]string, len(result.Rows))
	for i, r := range result.Rows {
		from, to := 0, 2
		if r[0] == nil {
			from, to = 2, 6
		}
		for _, v := range r[from:to] {
			rows[i] = append(rows[i], string(v))
		}
	}
	return rows
}

// ours is what we make of an input, in the same form.
func ours(typ tailrace.Type, input string, s *Settings) string {
	c := tailrace.MakeColumn(typ.Kind, 1)
	if err := ParseText(&c, typ, input, s); err != nil {
		e := err.(*tailrace.Error)
		return strings.Join([]string{e.Code, e.Message, e.Detail, e.Hint}, " | ")
	}
	return string(AppendText(nil, typ, &c, 0, s)) + " | " + hex.EncodeToString(AppendBinary(nil, typ, &c, 0))
}

// sessions are settings that between them use every style.
func sessions(t testing.TB) []*peer {
	return []*peer{
		newPeer(t, StyleISO, OrderMDY, IntervalPostgres, "UTC", 1, true),
		newPeer(t, StylePostgres, OrderMDY, IntervalVerbose, "America/New_York", 0, false),
		newPeer(t, StyleSQL, OrderDMY, IntervalSQL, "Asia/Kolkata", 3, true),
		newPeer(t, StyleGerman, OrderDMY, IntervalISO, "<+03>-3", -3, false),
		newPeer(t, StylePostgres, OrderDMY, IntervalPostgres, "Europe/Dublin", -15, true),
		newPeer(t, StyleSQL, OrderYMD, IntervalVerbose, "-5.5", 2, true),
	}
}

func isFloat(t tailrace.Type) bool {
	return t.Kind == tailrace.KindFloat4 || t.Kind == tailrace.KindFloat8
}

// oneNaN replaces the bits of the NaNs that only C's strtod makes, such as -nan, by those of PostgreSQL's own.
func oneNaN(want string, k tailrace.Kind) string {
	if !strings.HasPrefix(want, "NaN | ") {
		return want
	}
	if k == tailrace.KindFloat4 {
		return "NaN | 7fc00000"
	}
	return "NaN | 7ff8000000000000"
}

package query

import (
	"crypto/rand"
	"strings"
)

// Version is what version() answers.
const Version = "PostgreSQL " + ServerVersion + " (Tailrace)"

// ServerVersion is the PostgreSQL version that statements and the protocol follow.
const ServerVersion = "15.12"

// sessionEntries are functions about the session, and constants that clients ask for.
var sessionEntries = []entry{
	{name: "version", ret: "t", sql: quote(Version)},
	{name: "current_database", ret: "N", sql: "{base}"},
	{name: "pg_backend_pid", ret: "i", sql: "{pid}"},
	{name: "mz_now", ret: "n", sql: "{read}"},
	{name: "pg_is_in_recovery", ret: "b", sql: "CAST(FALSE AS BOOLEAN)"},
	{name: "gen_random_uuid", ret: "u", env: true, volatile: true, impl: func(_ *frame, d []byte, _ [][]byte) ([]byte, error) {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return nil, err
		}
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4
		return append(d, b[:]...), nil
	}},
	{name: "current_setting", args: "t", ret: "t", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return f.setting(d, string(a[0]), false)
	}},
	{name: "current_setting", args: "tb", ret: "t", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return f.setting(d, string(a[0]), a[1][0] != 0)
	}},
	{name: "set_config", args: "ttb", ret: "t", env: true, volatile: true, nulls: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		if f.run.env.Set == nil || a[0] == nil || a[2] == nil {
			return nil, raise(codeUnsupported, "set_config is not supported here")
		}
		v, err := f.run.env.Set(string(a[0]), string(a[1]), a[2][0] != 0)
		return append(d, v...), err
	}},
}

func (f *frame) setting(dst []byte, name string, missingOK bool) ([]byte, error) {
	if get := f.run.env.Setting; get != nil {
		if v, ok := get(strings.ToLower(name)); ok {
			return append(dst, v...), nil
		}
	}
	if missingOK {
		return nil, errNull
	}
	return nil, raise(codeNoType, "unrecognized configuration parameter \"%s\"", name)
}

package sql

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"tailrace"
	"tailrace/expr"
	"tailrace/format"
	"tailrace/parse"
	"tailrace/shard"
)

// blockState is where a session stands.
type blockState uint8

const (
	idle     blockState = iota
	implicit            // in a transaction that ends with the simple query, or at Sync
	open                // in a block that BEGIN opened
	failed              // in a block that an error stopped: only its end is accepted
)

// Session is one client's: its settings, transaction, cursors and prepared statements. One goroutine uses it.
type Session struct {
	engine     *Engine
	options    SessionOptions
	uuid       string
	values     *values
	format     *format.Settings
	writing    shard.WriteOptions // by the settings
	reported   map[string]string  // what the client was told last
	state      blockState
	txn        *txn           // nil when idle or failed
	start      time.Time      // now(): when the transaction began
	at         *tailrace.Time // that AS OF asks for, while such a statement is begun; nil for the transaction's
	readOnly   bool           // of the block
	cursors    map[string]*cursor
	statements map[string]*Prepared // PREPARE
	again      *rerun               // the only statement of an extended-protocol cycle
	prior      bool                 // a statement already ran in this implicit transaction
	path       []string             // search_path, see searchPath
	presence   *presence            // what others know of it
	way        string               // which way the statement goes, for the history
	reading    *reading             // counts what EXPLAIN ANALYZE reads; nil otherwise
}

// database is the only one there is.
const database = "postgres"

// NewSession starts a session. The error is FATAL for the client: an unknown database, a setting that cannot be.
func (e *Engine) NewSession(o SessionOptions) (*Session, error) {
	if o.Database != "" && o.Database != database {
		return nil, &tailrace.Error{
			Severity: "FATAL", Code: "3D000", Message: fmt.Sprintf("database \"%s\" does not exist", o.Database), Hint: "Connect to the database postgres.",
		}
	}
	if o.Notice == nil {
		o.Notice = func(*tailrace.Error) {}
	}
	if o.Report == nil {
		o.Report = func(string, string) {}
	}
	s := &Session{
		engine: e, options: o, uuid: newUUID(), values: newValues(), reported: map[string]string{}, cursors: map[string]*cursor{}, statements: map[string]*Prepared{},
	}
	s.values.initial["session_authorization"] = o.User
	s.values.initial["subscribe_memory_bytes"], s.values.initial["subscribe_spill_bytes"] = subscribeBytes(e.Budget)
	for name, value := range o.Params {
		key := strings.ToLower(name)
		switch key {
		case "user", "database", "replication":
			continue
		case "options":
			if err := s.startOptions(value); err != nil {
				return nil, err
			}
			continue
		}
		if strings.HasPrefix(key, "_pq_.") {
			continue
		}
		if err := s.startSetting(key, value); err != nil {
			return nil, err
		}
	}
	s.format = s.valueFormat()
	s.writing = s.values.writing()
	s.pathChanged()
	for _, kv := range s.Reported() {
		s.reported[kv[0]] = kv[1]
	}
	s.appear()
	return s, nil
}

func (s *Session) startSetting(key, value string) error {
	v, err := s.check(key, value)
	if e := (*tailrace.Error)(nil); errors.As(err, &e) {
		fatal := *e
		fatal.Severity = "FATAL"
		return &fatal
	}
	if err != nil {
		return err
	}
	s.values.initial[key] = v
	return nil
}

// startOptions reads -c name=value and --name=value, as libpq's options carries them.
func (s *Session) startOptions(text string) error {
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "-c"):
			w = w[2:]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return &tailrace.Error{Severity: "FATAL", Code: "42601", Message: fmt.Sprintf("invalid command-line argument for server process: %s", w)}
		}
		if err := s.startSetting(strings.ToLower(strings.ReplaceAll(name, "-", "_")), value); err != nil {
			return err
		}
	}
	return nil
}

func newUUID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("no randomness from the system: " + err.Error())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Close ends the session and gives up what it holds.
func (s *Session) Close() {
	s.rollback(context.Background())
	s.recorded(errClosed)
	s.engine.sessions.remove(s.presence)
}

// errClosed is how a statement ended whose session did.
var errClosed = &tailrace.Error{Code: "57P01", Message: "the connection was closed"}

// Status is the transaction status of ReadyForQuery: 'I' idle, 'T' in a block, 'E' in a failed block.
func (s *Session) Status() byte {
	switch s.state {
	case open:
		return 'T'
	case failed:
		return 'E'
	}
	return 'I'
}

// Format is how values print as text now. It is immutable.
func (s *Session) Format() *format.Settings { return s.format }

// Reported lists the settings that ParameterStatus messages tell at the start.
func (s *Session) Reported() [][2]string {
	var out [][2]string
	for i := range settingList {
		if st := &settingList[i]; st.reported {
			v, _ := s.values.get(strings.ToLower(st.name))
			out = append(out, [2]string{st.name, v})
		}
	}
	return out
}

// valueFormat is how values read and print with the settings in force.
func (s *Session) valueFormat() *format.Settings {
	f := s.values.format()
	f.Labels = s.labels
	f.Names = names{s}
	return f
}

// settingsChanged makes the settings in force and tells the client of those that it wants to know.
func (s *Session) settingsChanged() {
	if !s.values.dirty {
		return
	}
	s.values.dirty = false
	s.format = s.valueFormat()
	s.writing = s.values.writing()
	if s.txn != nil {
		s.txn.writing = s.writing
	}
	s.pathChanged()
	s.presence.called(s.get("application_name"))
	for _, kv := range s.Reported() {
		if s.reported[kv[0]] != kv[1] {
			s.reported[kv[0]] = kv[1]
			s.options.Report(kv[0], kv[1])
		}
	}
}

// Parse splits a simple query.
func (s *Session) Parse(text string) ([]*parse.Statement, error) {
	sts, err := s.engine.texts.Parse(text)
	if err != nil {
		s.refused(text, err)
	}
	return sts, err
}

func (s *Session) notice(severity, code, message string) {
	s.options.Notice(&tailrace.Error{Severity: severity, Code: code, Message: message})
}

// row is what expressions of the current statement are evaluated against, without columns.
func (s *Session) row(params *tailrace.Batch) *expr.Row {
	r := &expr.Row{Params: params, Settings: s.format, Now: expr.StoredNow(s.start)}
	if s.txn != nil {
		r.Logical = s.readTime()
	}
	return r
}

// get is the value of a setting, "" when there is none.
func (s *Session) get(key string) string {
	v, _ := s.values.get(key)
	return v
}

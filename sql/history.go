package sql

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/parse"
	"tailrace/system"
)

const (
	// HistoryBytes is how much memory mz_internal.mz_statement_history takes on a node, in bytes; the oldest statements make room.
	HistoryBytes = 8 << 20
	// HistoryTextBytes is how much of a statement's text, and of its error, is kept, as PostgreSQL's track_activity_query_size.
	HistoryTextBytes = 1024
	// historyRow is what a statement takes beside its texts, in bytes.
	historyRow = 240
)

// history is the newest statements of a node that ended.
type history struct {
	mu    sync.Mutex
	last  uint64
	rows  []*system.Statement // oldest first
	bytes int
}

// id numbers a statement.
func (h *history) id() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	return h.last
}

// add keeps a statement that ended; it is not changed any more.
func (h *history) add(st *system.Statement) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows = append(h.rows, st)
	h.bytes += historySize(st)
	drop := 0
	for h.bytes > HistoryBytes && drop < len(h.rows)-1 {
		h.bytes -= historySize(h.rows[drop])
		h.rows[drop] = nil
		drop++
	}
	h.rows = h.rows[drop:] // append moves the rest to a new array now and then
}

func historySize(st *system.Statement) int { return historyRow + len(st.SQL) + len(st.Error) }

// History lists the newest statements of the node, by number: those that run, and those that ended as far as HistoryBytes reaches.
func (e *Engine) History() []system.Statement {
	var out []system.Statement
	for _, p := range e.sessions.list() {
		p.mu.Lock()
		if p.running != nil {
			out = append(out, *p.running)
		}
		p.mu.Unlock()
	}
	e.history.mu.Lock()
	for _, st := range e.history.rows {
		out = append(out, *st)
	}
	e.history.mu.Unlock()
	slices.SortFunc(out, func(a, b system.Statement) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}

// record notes that st begins, for pg_stat_activity and the history. One that is still noted as running has ended well: nobody said otherwise.
func (s *Session) record(st *parse.Statement) {
	s.recorded(nil)
	s.way = ""
	s.presence.active(&system.Statement{ID: s.engine.history.id(), Session: s.uuid, SQL: shownText(st), Began: s.engine.now(), Status: "running"})
}

// finished notes that a statement's result went out. In a transaction that ends with the query, or at Sync, it may still fail.
func (s *Session) finished(tag string) {
	s.counted(tag)
	if s.state != implicit {
		s.recorded(nil)
	}
}

// counted notes how many rows a statement's tag tells.
func (s *Session) counted(tag string) {
	n, err := strconv.ParseInt(tag[strings.LastIndexByte(tag, ' ')+1:], 10, 64)
	if err != nil {
		return
	}
	s.presence.mu.Lock()
	defer s.presence.mu.Unlock()
	if st := s.presence.running; st != nil {
		st.Rows = n
	}
}

// recorded notes that what runs, if anything does, ended with err, and what the session does now.
func (s *Session) recorded(err error) {
	state, xact := s.stateWord()
	now := s.engine.now()
	st := s.presence.rest(state, xact, now)
	if st == nil {
		return
	}
	st.Ended, st.Status, st.Path = now, "success", s.way
	if err != nil {
		st.Status, st.Code, st.Error = "error", tailrace.Code(err), cutText(err.Error())
		if e := (*tailrace.Error)(nil); errors.As(err, &e) && (e.Code == "57014" || e.Code == "57P01") {
			st.Status = "canceled"
		}
	}
	s.engine.history.add(st)
}

// refused notes a text that is no statement.
func (s *Session) refused(text string, err error) {
	secret := secretive(text)
	if secret {
		text = redact(text)
	}
	now := s.engine.now()
	st := &system.Statement{
		ID: s.engine.history.id(), Session: s.uuid, SQL: cutText(text), Began: now, Ended: now, Status: "error", Code: tailrace.Code(err), Error: cutText(err.Error()),
	}
	if secret {
		st.Error = "" // PostgreSQL's grammar quotes what it stumbles over
	}
	s.engine.history.add(st)
}

// shownText is a statement's text as others may see it: cut, in memory of its own, and without the secrets that statements about secrets hold.
func shownText(st *parse.Statement) string {
	switch {
	case st.CreateSecret != nil, st.CreateConnection != nil, st.Tree.GetCreateRoleStmt() != nil, st.Tree.GetAlterRoleStmt() != nil,
		st.Tree.GetCreateUserMappingStmt() != nil, st.Tree.GetAlterUserMappingStmt() != nil, st.Tree.GetCreateForeignServerStmt() != nil,
		st.Tree.GetCreateSubscriptionStmt() != nil, st.Tree.GetAlterSubscriptionStmt() != nil:
		return cutText(redact(st.Text))
	}
	return cutText(st.Text)
}

// secretive tells whether a text that cannot be parsed might hold a secret.
func secretive(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "secret") || strings.Contains(text, "password") || strings.Contains(text, "connection")
}

// redact is text without its string constants, or only its first word when it does not scan.
func redact(text string) string {
	r, err := pg_query.Scan(text)
	if err != nil {
		word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		return word + " <redacted>"
	}
	var out strings.Builder
	at := 0
	for _, t := range r.Tokens {
		switch t.Token {
		case pg_query.Token_SCONST, pg_query.Token_USCONST, pg_query.Token_BCONST, pg_query.Token_XCONST:
			out.WriteString(text[at:t.Start] + "'<redacted>'")
			at = int(t.End)
		}
	}
	out.WriteString(text[at:])
	return out.String()
}

// cutText is at most HistoryTextBytes of text, in memory of its own so that a long text is not kept for its beginning.
func cutText(text string) string {
	if len(text) <= HistoryTextBytes {
		return strings.Clone(text)
	}
	n := HistoryTextBytes
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.Clone(text[:n]) + "..."
}

package sql

import (
	"slices"
	"sync"
	"time"

	"tailrace"
	"tailrace/system"
)

// presence is what other sessions may know of one, for pg_stat_activity. The session writes it as it goes; anyone reads it.
type presence struct {
	cancel, terminate func() // nil: the session cannot be reached

	mu      sync.Mutex
	now     system.Activity
	running *system.Statement // nil while nothing runs
}

// roster is the sessions of a node.
type roster struct {
	mu  sync.Mutex
	all map[*presence]struct{}
}

func (r *roster) add(p *presence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[*presence]struct{}{}
	}
	r.all[p] = struct{}{}
}

func (r *roster) remove(p *presence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, p)
}

func (r *roster) list() []*presence {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*presence, 0, len(r.all))
	for p := range r.all {
		out = append(out, p)
	}
	return out
}

// Activity lists the sessions of the node, by PID.
func (e *Engine) Activity() []system.Activity {
	var out []system.Activity
	for _, p := range e.sessions.list() {
		p.mu.Lock()
		out = append(out, p.now)
		p.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b system.Activity) int { return int(a.PID) - int(b.PID) })
	return out
}

// signal is pg_cancel_backend, or pg_terminate_backend: it reports whether there is a session with that PID.
func (e *Engine) signal(pid int32, terminate bool) bool {
	for _, p := range e.sessions.list() {
		if p.now.PID != pid { // it never changes
			continue
		}
		f := p.cancel
		if terminate {
			f = p.terminate
		}
		if f == nil {
			return false
		}
		f()
		return true
	}
	return false
}

// signal is Engine.signal with PostgreSQL's warning when there is no such session.
func (s *Session) signal(pid int32, terminate bool) (bool, error) {
	ok := s.engine.signal(pid, terminate)
	if !ok {
		s.options.Notice(&tailrace.Error{
			Severity: "WARNING", Code: "01000", Message: failure("", "PID %d is not a PostgreSQL server process", pid).Message, Hint: "SELECT pid FROM pg_stat_activity lists them.",
		})
	}
	return ok, nil
}

// appear puts the session on the roster.
func (s *Session) appear() {
	now := s.engine.now()
	s.presence = &presence{cancel: s.options.Cancel, terminate: s.options.Terminate, now: system.Activity{
		PID: s.options.ID, Session: s.uuid, User: s.options.User, Application: s.get("application_name"), Client: s.options.Client,
		Began: now, StateChange: now, State: "idle",
	}}
	s.engine.sessions.add(s.presence)
}

// active tells others what runs from now on.
func (p *presence) active(st *system.Statement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = st
	p.now.State, p.now.Query, p.now.QueryStart, p.now.StateChange = "active", st.SQL, st.Began, st.Began
}

// rest tells others that nothing runs, and takes out what did, nil when nothing did.
func (p *presence) rest(state string, xact, now time.Time) *system.Statement {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.running
	p.running = nil
	if p.now.State != state {
		p.now.State, p.now.StateChange = state, now
	}
	p.now.XactStart = xact
	return st
}

// inTransaction tells others when the transaction began.
func (p *presence) inTransaction(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.XactStart = since
}

// called tells others the session's application_name.
func (p *presence) called(application string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Application = application
}

// stateWord is what pg_stat_activity says of a session that runs nothing.
func (s *Session) stateWord() (state string, xact time.Time) {
	switch s.state {
	case open:
		return "idle in transaction", s.start
	case failed:
		return "idle in transaction (aborted)", s.start
	}
	return "idle", time.Time{}
}

package log

import "context"

// On an idle log, who commits is the committer: the calling goroutine takes the token and does the round itself, and applies the entry (apply.go), so that
// one writer's commit does not wait for four wake-ups of other goroutines besides its fsync. While the token is taken, by Run or by such a leader, commits
// queue up; the leader leaves after one round, and what queued up meanwhile is Run's.
//
//	idle    Commit ─ takes the token ─ round ─ gives it ─ applies ─▶ is done
//	busy    Commit ─ queues ─ wakes Run ─▶ waits for Applied
//
// On a shared store only Run appends: an append may take as long as the store is away, and a caller can only give up waiting for another goroutine.

// take takes the token, which gives the runner to its holder.
func (r *runner) take() { r.token <- struct{}{} }

func (r *runner) give() { <-r.token }

// mayLead lets callers lead from now on.
func (r *runner) mayLead(ctx context.Context) {
	lead := func() bool {
		if !r.leadRound(ctx) {
			return false
		}
		r.applyHere()
		return true
	}
	r.lead.Store(&lead)
}

// leadRound does a round, if nobody has the token.
func (r *runner) leadRound(ctx context.Context) bool {
	select {
	case r.token <- struct{}{}:
	default:
		return false
	}
	defer r.give()
	r.leading = true
	// As in loop: those who were woken by the last entry are about to commit, too.
	r.yield()
	r.backlog = r.takeWaiting(r.backlog)
	if r.failed == nil && len(r.backlog) > 0 {
		r.failed = r.round(ctx)
	}
	if r.failed != nil || len(r.backlog) > 0 {
		r.wakeRun()
	}
	r.leading = false
	return true
}

// tryLead does a round, and applies its entry, if the log is idle.
func (l *Log) tryLead() bool {
	lead := l.lead.Load()
	return lead != nil && (*lead)()
}

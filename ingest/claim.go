package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
)

// giveTime bounds how long a runner that stops tries to give its claim up. If it cannot, others wait until the session's lease runs out.
const giveTime = 2 * time.Second

// claimName is the name of a source's claim in the log.
func claimName(source catalog.ID) string { return "source/" + strconv.FormatUint(uint64(source), 10) }

// take waits until this node has the source's claim; false when ctx ends first or nothing is committed here any more. It returns after all
// that was committed under the claim before is applied, so the position in the catalog is where to go on.
func (r *runner) take(ctx context.Context) bool {
	for {
		if _, held := r.i.holder(r.id); held {
			r.progress.set(Standby, nil)
		}
		claim, err := r.i.o.Log.TakeClaim(ctx, claimName(r.id))
		if err == nil {
			r.claim = claim
			r.progress.set(Starting, nil)
			return true
		}
		if ctx.Err() != nil || errors.Is(err, log.ErrClosed) || errors.Is(err, log.ErrEnded) {
			return false
		}
		r.progress.set(Failing, explained(err))
		if wait(ctx, firstBackoff) != nil {
			return false
		}
	}
}

// give lets another node have the claim at once.
func (r *runner) give(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveTime)
	defer cancel()
	if err := r.i.o.Log.GiveClaim(ctx, r.claim); err != nil {
		r.i.o.Logger.Debug("give up a source's claim", "source", r.id, "error", err) // it ends with the session
	}
}

// holder is the other session that follows the source.
func (i *Ingest) holder(source catalog.ID) (session string, held bool) {
	session, held = i.o.Log.ClaimHolder(claimName(source))
	return session, held && session != i.o.Log.Session()
}

// elsewhere is an error when another node follows the source.
func (i *Ingest) elsewhere(s *catalog.Source) error {
	session, held := i.holder(s.ID)
	if !held {
		return nil
	}
	return &tailrace.Error{
		Code: "55006", Message: fmt.Sprintf("source \"%s\" is being followed by another node", s.Name),
		Detail: fmt.Sprintf("The session of that node is %s.", session), Hint: fmt.Sprintf("First: ALTER SOURCE %s PAUSE.", s.Name),
	}
}

package log

import "context"

// CommitAll commits txns in order, each a transaction with a time of its own, and returns how many of the first are committed. One that is refused
// drops all after it, so what is committed is always a beginning of txns. Several may share an entry, and the next is sent while one is under way:
// it is what a source with many small transactions uses. Errors are those of Commit, of the first transaction that is not committed.
func (l *Log) CommitAll(ctx context.Context, txns []Txn) (int, error) {
	var sent []*commit
	var last *commit
	done := 0
	for i := range txns {
		c, err := newCommit(&txns[i])
		if err != nil {
			n, first := l.await(ctx, sent, done)
			return n, firstOf(first, err)
		}
		for !l.room.TryAcquire(int64(len(c.body))) {
			if len(sent) == done { // others have the room
				if err := l.room.Acquire(ctx, int64(len(c.body))); err != nil {
					return done, err
				}
				break
			}
			if n, err := l.await(ctx, sent[:done+1], done); err != nil {
				l.withdraw(sent[done+1:])
				return n, err
			}
			done++
		}
		c.after, last = last, c
		if err := l.enqueue(c); err != nil {
			l.room.Release(int64(len(c.body)))
			n, first := l.await(ctx, sent, done)
			return n, firstOf(first, err)
		}
		l.wakeRun()
		sent = append(sent, c)
	}
	return l.await(ctx, sent, done)
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// await waits for sent, of which the first done are settled, in order, and returns how many are committed and the error of the one after them.
// Room is given back for each as it is settled.
func (l *Log) await(ctx context.Context, sent []*commit, done int) (int, error) {
	for ; done < len(sent); done++ {
		c := sent[done]
		select {
		case <-c.done:
		case <-ctx.Done():
			l.withdraw(sent[done:])
			return done, ctx.Err()
		}
		l.room.Release(int64(len(c.body)))
		if c.err != nil {
			l.withdraw(sent[done+1:])
			return done, c.err
		}
	}
	return done, nil
}

// withdraw gives up waiting for commits.
func (l *Log) withdraw(commits []*commit) {
	for _, c := range commits {
		c.withdrawn.Store(true)
		l.room.Release(int64(len(c.body)))
	}
}

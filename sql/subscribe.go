package sql

import (
	"context"
	"errors"
	"strconv"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/parse"
	"tailrace/tail"
)

// subscribe runs a direct SUBSCRIBE.
func (s *Session) subscribe(ctx context.Context, st *statement, p *parse.Subscribe) (*Result, error) {
	sub, err := s.startOnly(ctx, st, p)
	if err != nil {
		return nil, err
	}
	s.notice("NOTICE", "01000", "streaming SUBSCRIBE rows directly requires a client that does not buffer output")
	r := rowsOf("SUBSCRIBE", sub.Columns(), sub)
	r.Streaming = true
	return r, nil
}

// subscription is a SUBSCRIBE under way, on either path: a *tail.Subscription or a *dataflow.Subscription.
type subscription interface {
	tailrace.Rows
	Columns() []tailrace.ResultColumn
	Fetch(ctx context.Context, limit int, wait time.Duration) (rows *tailrace.Batch, ended bool, err error)
}

// startOnly begins the only subscription of the transaction.
func (s *Session) startOnly(ctx context.Context, st *statement, p *parse.Subscribe) (subscription, error) {
	if s.txn.selects || s.txn.subscribes {
		return nil, errOnlyRead
	}
	sub, err := s.follow(ctx, st, p)
	if err != nil {
		return nil, err
	}
	s.txn.subscribes = true
	return sub, nil
}

// copySubscribe runs COPY (SUBSCRIBE ...) TO STDOUT.
func (s *Session) copySubscribe(ctx context.Context, st *statement) (*Result, error) {
	o, err := s.copyOptionsOf(st, st.CopySubscribe.Options, false)
	if err != nil {
		return nil, err
	}
	sub, err := s.startOnly(ctx, st, st.CopySubscribe.Subscribe)
	if err != nil {
		return nil, err
	}
	r := s.copyOut(o, sub.Columns(), sub)
	r.Streaming = true
	return r, nil
}

// declareSubscribe runs DECLARE name CURSOR FOR SUBSCRIBE: it checks what can be checked without a time, and fixes none.
func (s *Session) declareSubscribe(ctx context.Context, st *statement) (*Result, error) {
	d := st.DeclareSubscribe
	if err := s.declarable(d.Cursor, d.Hold); err != nil {
		return nil, err
	}
	if s.txn.selects || s.txn.subscribes {
		return nil, errOnlyRead
	}
	if err := s.txn.open(ctx, true); err != nil {
		return nil, err
	}
	if _, err := s.subscribed(st, d.Subscribe); err != nil {
		return nil, err
	}
	s.txn.subscribes = true
	s.cursors[d.Cursor] = &cursor{level: len(s.txn.points), subscribe: d.Subscribe, st: st}
	return done("DECLARE CURSOR"), nil
}

// fetchSubscribe takes rows of a cursor's subscription, which it begins if this is the first FETCH.
func (s *Session) fetchSubscribe(ctx context.Context, c *cursor, count int64, wait time.Duration) (tailrace.Rows, error) {
	if c.sub == nil {
		sub, err := s.follow(ctx, c.st, c.subscribe)
		if err != nil {
			return nil, err
		}
		c.sub, c.columns = sub, sub.Columns()
	}
	limit := -1
	if count >= 0 {
		limit = int(min(count, 1<<31-1))
	}
	b, ended, err := c.sub.Fetch(ctx, limit, wait)
	if err != nil {
		return nil, err
	}
	if ended && (b == nil || b.N == 0) {
		s.notice("NOTICE", "01000", "SUBSCRIBE has ended")
	}
	return &literal{b}, nil
}

// followed is what a SUBSCRIBE follows, and on which path.
type followed struct {
	*flow
	table     *catalog.Table // on the storage path; nil on the other
	selection *tail.Selection
}

// path is the word for the way that the rows take.
func (f *followed) path() string {
	if f.table != nil {
		return "storage"
	}
	return "dataflow"
}

// subscribed plans what p follows, as the session's transaction sees it, and chooses the path.
func (s *Session) subscribed(st *statement, p *parse.Subscribe) (*followed, error) {
	f, err := s.planFlow(st, p)
	if err != nil {
		return nil, err
	}
	out := &followed{flow: f}
	table, selection, fits := f.narrowed(s, st)
	isSystem := fits && table.ID == tail.SubscriptionsID
	switch want := s.get("subscribe_path"); {
	case want == "storage" && !fits:
		return nil, &tailrace.Error{
			Code: "0A000", Message: "this SUBSCRIBE cannot be served from storage",
			Detail: "subscribe_path is storage, which serves tables, and columns and conditions over one table.", Hint: "SET subscribe_path = auto.",
		}
	case fits && (want != "dataflow" || isSystem): // mz_subscriptions is in the tail only
		out.table, out.selection = table, selection
	}
	for _, t := range f.tables {
		if t.ID == tail.SubscriptionsID && !isSystem {
			return nil, s.unsupported("SUBSCRIBE to a query of mz_internal.mz_subscriptions like this", "Follow it alone, with columns and a WHERE.")
		}
	}
	return out, nil
}

// follow begins a subscription at the newest time, which is not the transaction's: a SUBSCRIBE has times of its own.
func (s *Session) follow(ctx context.Context, st *statement, p *parse.Subscribe) (subscription, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	now, err := s.engine.Log.Sync(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.subscribed(st, p)
	if err != nil {
		return nil, err
	}
	s.way = f.path()
	r := tail.Request{
		Session: s.uuid, Envelope: tail.Envelope(p.Envelope), Snapshot: p.Snapshot, Progress: p.Progress, AtLeast: p.AtLeast, Now: now,
		Notice: s.options.Notice, Labels: s.engine.labels,
	}
	if r.AsOf, err = s.timestamp(st, p.AsOf, now); err != nil {
		return nil, err
	}
	if r.UpTo, err = s.timestamp(st, p.UpTo, now); err != nil {
		return nil, err
	}
	for _, k := range p.Key {
		r.Key = append(r.Key, k.Name)
	}
	for _, o := range p.OrderBy {
		if o.Column == "" && o.Number == 0 {
			return nil, &tailrace.Error{Code: "42P10", Message: "invalid ORDER BY in SUBSCRIBE WITHIN TIMESTAMP ORDER BY", Position: st.pos(o.Loc), Hint: "Order by columns, mz_diff, or their positions."}
		}
		r.OrderBy = append(r.OrderBy, tail.Order{Column: o.Column, Position: o.Number, Desc: o.Desc, NullsFirst: o.NullsFirst, At: st.pos(o.Loc)})
	}
	for _, t := range f.tables {
		if t.Upstream != nil {
			if err := s.waitLive(ctx, t); err != nil {
				return nil, err
			}
		}
	}
	if f.table != nil {
		r.Table, r.Selection = f.table, f.selection
		return s.engine.Tail.Subscribe(ctx, r)
	}
	return s.followFlow(st, f.flow, &r)
}

// timestamp evaluates AS OF and UP TO: a number, a numeric string, a timestamptz. nil for none.
func (s *Session) timestamp(st *statement, n *pg_query.Node, now tailrace.Time) (*tailrace.Time, error) {
	if n == nil {
		return nil, nil
	}
	e, err := expr.BindOutput(n, s.scope(st))
	if errors.Is(err, expr.ErrUnsupported) {
		return nil, at(s.unsupported("this expression as a timestamp", "Use a number, mz_now(), or now() with an interval."), st.pos(nodeLocation(n)))
	}
	if err != nil {
		return nil, err
	}
	row := s.row(st.params)
	row.Logical = now
	v, err := e.Eval(row)
	if err != nil {
		return nil, err
	}
	t, ok := s.timeOf(e.Type, v)
	if !ok {
		return nil, &tailrace.Error{
			Code: "22023", Message: "invalid timestamp for SUBSCRIBE", Position: st.pos(nodeLocation(n)),
			Hint: "Give microseconds since 1970 as a number up to 18446744073709551615, or a timestamp with time zone.",
		}
	}
	return &t, nil
}

// timeOf is a value as a time of the log.
func (s *Session) timeOf(t tailrace.Type, v expr.Value) (tailrace.Time, bool) {
	if v.Null {
		return 0, false
	}
	switch t.Kind {
	case tailrace.KindText, tailrace.KindVarchar:
		if n, err := strconv.ParseUint(string(v.Raw), 10, 64); err == nil {
			return tailrace.Time(n), true
		}
		tz := tailrace.TypeOf(tailrace.KindTimestamptz)
		parsed, err := expr.Convert(v, t, tz, true, s.format)
		if err != nil {
			return 0, false
		}
		return s.timeOf(tz, parsed)
	case tailrace.KindNumeric:
		return expr.NumericTime(v.Raw)
	case tailrace.KindInt2, tailrace.KindInt4, tailrace.KindInt8:
		num, err := expr.Convert(v, t, tailrace.TypeOf(tailrace.KindNumeric), false, s.format)
		if err != nil {
			return 0, false
		}
		return expr.NumericTime(num.Raw)
	case tailrace.KindTimestamptz:
		c := tailrace.ConstColumn(t.Kind, v.Raw, 1)
		return expr.LogicalTime(c.Int64s()[0])
	case tailrace.KindTimestamp, tailrace.KindDate:
		tz := tailrace.TypeOf(tailrace.KindTimestamptz)
		moved, err := expr.Convert(v, t, tz, true, s.format)
		if err != nil {
			return 0, false
		}
		return s.timeOf(tz, moved)
	}
	return 0, false
}

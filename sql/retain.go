package sql

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/parse"
)

// retention reads the time of RETAIN HISTORY FOR.
func (s *Session) retention(st *statement, r *parse.Retain) (time.Duration, error) {
	if r.Reset {
		return catalog.DefaultRetain, nil
	}
	d, ok, err := s.lengthOfTime(r.For)
	if err != nil {
		return 0, at(err, st.pos(r.Loc))
	}
	if !ok {
		return 0, &tailrace.Error{
			Code: "22023", Message: fmt.Sprintf("RETAIN HISTORY FOR '%s' is out of range", r.For), Position: st.pos(r.Loc),
			Hint: "Give a time from '0s' to '36500 days', without months and years.",
		}
	}
	return d, nil
}

// lengthOfTime reads an interval of up to 36,500 days without months; ok is false for another one.
func (s *Session) lengthOfTime(text string) (d time.Duration, ok bool, err error) {
	c := tailrace.MakeColumn(tailrace.KindInterval, 1)
	if err := format.ParseText(&c, tailrace.TypeOf(tailrace.KindInterval), text, s.format); err != nil {
		return 0, false, err
	}
	raw := c.Bytes(0)
	months, days := int32(binary.LittleEndian.Uint32(raw)), int32(binary.LittleEndian.Uint32(raw[4:]))
	micros := int64(binary.LittleEndian.Uint64(raw[8:]))
	d = time.Duration(micros)*time.Microsecond + time.Duration(days)*24*time.Hour
	return d, months == 0 && d >= 0 && days <= 36500 && micros <= int64(36500*24*time.Hour/time.Microsecond), nil
}

// alterRetain runs ALTER TABLE | SOURCE ... SET | RESET (RETAIN HISTORY ...).
func (s *Session) alterRetain(ctx context.Context, st *statement) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	r := st.Retain
	retain, err := s.retention(st, r)
	if err != nil {
		return nil, err
	}
	if r.Source {
		src := s.txn.catalog.SourceNamed(r.Table.Name)
		if src == nil {
			return nil, at(failure("42704", "source \"%s\" does not exist", r.Table.Name), st.pos(r.Table.Loc))
		}
		changed := *src
		changed.Retain = retain
		s.txn.change(catalog.Change{Source: &changed})
		for _, t := range s.txn.catalog.TablesOf(src.ID) {
			kept := *t
			kept.Retain = retain
			s.txn.change(catalog.Change{Table: &kept})
		}
		s.wakeSources()
		return done("ALTER SOURCE"), nil
	}
	t := s.find(r.Table.Schema, r.Table.Name)
	if t == nil {
		if r.IfExists {
			s.notice("NOTICE", "00000", fmt.Sprintf("relation \"%s\" does not exist, skipping", r.Table.Name))
			return done("ALTER TABLE"), nil
		}
		return nil, at(noRelation(r.Table.Schema, r.Table.Name), st.pos(r.Table.Loc))
	}
	changed := *t
	changed.Retain = retain
	s.txn.change(catalog.Change{Table: &changed})
	return done("ALTER TABLE"), nil
}

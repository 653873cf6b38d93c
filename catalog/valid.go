package catalog

import (
	"fmt"

	"tailrace"
)

// corrupt is ErrCorrupt with what is wrong.
func corrupt(text string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(text, args...), tailrace.ErrCorrupt)
}

// valid checks a change that was read: exactly one field is set, and a table has columns that the rooms above can work with.
func (ch *Change) valid() error {
	set := 0
	for _, is := range []bool{ch.Table != nil, ch.Secret != nil, ch.Connection != nil, ch.Source != nil, ch.User != nil, ch.Namespace != nil, ch.View != nil, ch.Type != nil, ch.Sink != nil, ch.Drop != 0} {
		if is {
			set++
		}
	}
	if set != 1 {
		return corrupt("a change of %d objects", set)
	}
	switch {
	case ch.Table != nil:
		return ch.Table.valid()
	case ch.View != nil:
		return ch.View.valid()
	case ch.Type != nil:
		return ch.Type.valid()
	}
	return nil
}

func (v *View) valid() error {
	for _, c := range v.Columns {
		if !c.Type.Valid() {
			return corrupt("column %q of view %d", c.Name, v.ID)
		}
	}
	return nil
}

func (t *UserType) valid() error {
	if t.Base != nil && (!t.Base.Valid() || t.Labels != nil) {
		return corrupt("type %d", t.ID)
	}
	return nil
}

func (t *Table) valid() error {
	if t.Columns == nil {
		return corrupt("table %d has no columns", t.ID)
	}
	ids, keyed := map[tailrace.ColumnID]bool{}, map[int]bool{}
	for _, f := range t.Columns.Fields {
		if !f.Type.Valid() || ids[f.ID] || badMissing(&f) {
			return corrupt("column %q of table %d", f.Name, t.ID)
		}
		ids[f.ID] = true
	}
	for _, k := range t.Columns.Key {
		if k < 0 || k >= len(t.Columns.Fields) || keyed[k] {
			return corrupt("key of table %d", t.ID)
		}
		keyed[k] = true
	}
	return nil
}

// valid checks a catalog that was read from a checkpoint: each object is there, under its own ID.
func (c *Catalog) valid() error {
	for _, err := range []error{
		under(c.Tables, func(t *Table) ID { return t.ID }), under(c.Secrets, func(s *Secret) ID { return s.ID }),
		under(c.Connections, func(n *Connection) ID { return n.ID }), under(c.Sources, func(s *Source) ID { return s.ID }),
		under(c.Users, func(u *User) ID { return u.ID }), under(c.Namespaces, func(n *Namespace) ID { return n.ID }),
		under(c.Views, func(v *View) ID { return v.ID }), under(c.Types, func(t *UserType) ID { return t.ID }),
		under(c.Sinks, func(s *Sink) ID { return s.ID }),
	} {
		if err != nil {
			return err
		}
	}
	for _, t := range c.Tables {
		if err := t.valid(); err != nil {
			return err
		}
	}
	for _, v := range c.Views {
		if err := v.valid(); err != nil {
			return err
		}
	}
	for _, t := range c.Types {
		if err := t.valid(); err != nil {
			return err
		}
	}
	if c.Positions == nil {
		return corrupt("no positions")
	}
	return nil
}

// under checks that each object has the ID that it is found by.
func under[T any](objects map[ID]*T, idOf func(*T) ID) error {
	if objects == nil {
		return corrupt("a kind of objects is missing")
	}
	for id, o := range objects {
		if o == nil || idOf(o) != id {
			return corrupt("object %d", id)
		}
	}
	return nil
}

// badMissing tells that a field's Missing is no value of its type.
func badMissing(f *tailrace.Field) bool {
	w := f.Type.Kind.Width()
	return f.Missing != nil && w > 0 && len(f.Missing) != w
}

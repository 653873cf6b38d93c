package sql

import (
	"errors"
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// check returns value as setting key keeps it. The error is 42704 for an unknown setting, 22023 for a bad value, 55P02 for a fixed one. A name
// with a point in it is the client's own and may be anything.
func (s *Session) check(key, value string) (string, error) {
	st := settingsByName[key]
	if st == nil {
		if strings.Contains(key, ".") {
			return value, nil
		}
		return "", failure("42704", "unrecognized configuration parameter \"%s\"", key)
	}
	if st.fixed {
		return "", failure("55P02", "parameter \"%s\" cannot be changed", st.name)
	}
	check := st.check
	if key == "role" || key == "session_authorization" {
		check = func(v string) (string, error) { return s.roleSetting(key, v) }
	}
	if key == "datestyle" {
		check = func(v string) (string, error) { return dateStyle(s.get(key), v) }
	}
	if check == nil {
		return value, nil
	}
	v, err := check(value)
	if te := (*tailrace.Error)(nil); errors.As(err, &te) {
		return "", err
	}
	if errors.Is(err, errNoBool) {
		return "", &tailrace.Error{Code: "22023", Message: fmt.Sprintf("parameter \"%s\" requires a Boolean value", st.name), Hint: string(errNoBool)}
	}
	if err != nil {
		return "", invalid(key, value, err.Error()) // PostgreSQL names it as the statement does
	}
	return v, nil
}

// optionText is the value of a SET or of an option as text.
func optionText(n *pg_query.Node) string {
	switch {
	case n == nil:
		return ""
	case n.GetString_() != nil:
		return n.GetString_().Sval
	case n.GetInteger() != nil:
		return fmt.Sprint(n.GetInteger().Ival)
	case n.GetFloat() != nil:
		return n.GetFloat().Fval
	case n.GetBoolean() != nil:
		return fmt.Sprint(n.GetBoolean().Boolval)
	case n.GetTypeCast() != nil:
		return optionText(n.GetTypeCast().Arg)
	}
	switch v := n.GetAConst().GetVal().(type) {
	case *pg_query.A_Const_Sval:
		return v.Sval.Sval
	case *pg_query.A_Const_Ival:
		return fmt.Sprint(v.Ival.Ival)
	case *pg_query.A_Const_Fval:
		return v.Fval.Fval
	case *pg_query.A_Const_Boolval:
		return fmt.Sprint(v.Boolval.Boolval)
	}
	return ""
}

// setVariable runs SET and RESET.
func (s *Session) setVariable(st *statement, n *pg_query.VariableSetStmt) (*Result, error) {
	key := strings.ToLower(n.Name)
	if n.IsLocal && s.state != open {
		s.notice("WARNING", "25P01", "SET LOCAL can only be used in transaction blocks")
		return done("SET"), nil
	}
	switch n.Kind {
	case pg_query.VariableSetKind_VAR_SET_MULTI:
		return s.setMulti(st, n)
	case pg_query.VariableSetKind_VAR_RESET_ALL:
		for k := range s.values.session {
			s.values.reset(k)
		}
		s.settingsChanged()
		return done("RESET"), nil
	case pg_query.VariableSetKind_VAR_RESET, pg_query.VariableSetKind_VAR_SET_DEFAULT:
		if _, err := s.check(key, s.get(key)); err != nil {
			return nil, err
		}
		s.values.reset(key)
		s.settingsChanged()
		if n.Kind == pg_query.VariableSetKind_VAR_RESET {
			return done("RESET"), nil
		}
		return done("SET"), nil
	}
	if n.Kind == pg_query.VariableSetKind_VAR_SET_CURRENT {
		return done("SET"), nil
	}
	return s.setValue(key, n)
}

// setValue runs SET name = value, ....
func (s *Session) setValue(key string, n *pg_query.VariableSetStmt) (*Result, error) {
	var parts []string
	for _, a := range n.Args {
		part := optionText(a)
		if hours, ok, err := s.zoneInterval(a); err != nil {
			return nil, err
		} else if ok && key == "timezone" {
			part = hours
		}
		if key == "search_path" {
			part = quoteName(part) // each argument is one name, whatever is in it
		}
		parts = append(parts, part)
	}
	v, err := s.check(key, strings.Join(parts, ", "))
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(key, "transaction_") {
		if err := s.setTransaction(key, v); err != nil {
			return nil, err
		}
		if s.state != open { // outside of a block it is for all that follow
			s.values.set("default_"+key, v, false)
		}
		return done("SET"), nil
	}
	s.values.set(key, v, n.IsLocal)
	s.settingsChanged()
	return done("SET"), nil
}

// setMulti runs SET TRANSACTION and SET SESSION CHARACTERISTICS AS TRANSACTION.
func (s *Session) setMulti(st *statement, n *pg_query.VariableSetStmt) (*Result, error) {
	switch n.Name {
	case "TRANSACTION":
		if s.state != open {
			s.notice("WARNING", "25P01", "SET TRANSACTION can only be used in transaction blocks")
			return done("SET"), nil
		}
	case "SESSION CHARACTERISTICS":
	default:
		return nil, s.unsupported("SET "+n.Name, "")
	}
	for _, o := range n.Args {
		d := o.GetDefElem()
		value := optionText(d.Arg)
		if d.Defname != "transaction_isolation" {
			value = map[bool]string{true: "on", false: "off"}[value == "1" || value == "true"]
		}
		if n.Name == "SESSION CHARACTERISTICS" {
			v, err := s.check("default_"+d.Defname, value)
			if err != nil {
				return nil, err
			}
			s.values.set("default_"+d.Defname, v, false)
		} else if err := s.setTransaction(d.Defname, value); err != nil {
			return nil, at(err, st.pos(d.Location))
		}
	}
	s.settingsChanged()
	return done("SET"), nil
}

// show runs SHOW.
func (s *Session) show(n *pg_query.VariableShowStmt) (*Result, error) {
	if n.Name == "all" {
		var rows [][]string
		for i := range settingList {
			rows = append(rows, []string{settingList[i].name, s.get(strings.ToLower(settingList[i].name)), ""})
		}
		return textResult("SHOW", []string{"name", "setting", "description"}, rows...), nil
	}
	if showsMemory(n) {
		return s.showMemory(), nil
	}
	name, value, err := s.showOne(n.Name)
	if err != nil {
		return nil, err
	}
	return textResult("SHOW", []string{name}, []string{value}), nil
}

// showOne is a setting's name as SHOW heads its column, and its value.
func (s *Session) showOne(name string) (string, string, error) {
	key := strings.ToLower(name)
	v, ok := s.values.get(key)
	if !ok {
		return "", "", failure("42704", "unrecognized configuration parameter \"%s\"", name)
	}
	if key == "transaction_read_only" {
		v = map[bool]string{true: "on", false: "off"}[s.readOnly]
	}
	if st := settingsByName[key]; st != nil {
		return st.name, v, nil
	}
	return name, v, nil
}

// discard runs DISCARD.
func (s *Session) discard(n *pg_query.DiscardStmt) (*Result, error) {
	names := map[pg_query.DiscardMode]string{
		pg_query.DiscardMode_DISCARD_ALL: "ALL", pg_query.DiscardMode_DISCARD_PLANS: "PLANS", pg_query.DiscardMode_DISCARD_SEQUENCES: "SEQUENCES", pg_query.DiscardMode_DISCARD_TEMP: "TEMP",
	}
	if n.Target == pg_query.DiscardMode_DISCARD_ALL {
		if s.state == open {
			return nil, &tailrace.Error{Code: "25001", Message: "DISCARD ALL cannot run inside a transaction block"}
		}
		for k := range s.values.session {
			s.values.reset(k)
		}
		s.closeCursors()
		s.forgetStatements()
		s.settingsChanged()
	}
	return done("DISCARD " + names[n.Target]), nil
}

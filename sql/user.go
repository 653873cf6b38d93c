package sql

import (
	"context"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// createUser runs CREATE USER name PASSWORD '...'. Every user may log in and do everything. While there is none anybody may, so the first one shuts the door.
func (s *Session) createUser(ctx context.Context, n *pg_query.CreateRoleStmt) (*Result, error) {
	if n.StmtType == pg_query.RoleStmtType_ROLESTMT_GROUP {
		return nil, s.unsupported("CREATE GROUP", "Every user may do everything: CREATE USER name PASSWORD '...'.")
	}
	o, err := s.userOptions("CREATE USER", n.Options)
	switch {
	case err != nil:
		return nil, err
	case n.StmtType == pg_query.RoleStmtType_ROLESTMT_ROLE && !o.login:
		return nil, s.unsupported("a role that cannot log in", "CREATE USER name PASSWORD '...'.")
	case !o.given:
		return nil, s.unsupported("a user without a password", "CREATE USER "+n.Role+" PASSWORD '...'.")
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	if s.txn.catalog.UserNamed(n.Role) != nil {
		return nil, &tailrace.Error{Code: "42710", Message: fmt.Sprintf("role \"%s\" already exists", n.Role), Hint: "ALTER USER " + n.Role + " PASSWORD '...' gives it another password."}
	}
	return done("CREATE ROLE"), s.putUser(s.txn.newID(), n.Role, o.password)
}

// alterUser runs ALTER USER name PASSWORD '...'. Sessions that are open go on.
func (s *Session) alterUser(ctx context.Context, n *pg_query.AlterRoleStmt) (*Result, error) {
	o, err := s.userOptions("ALTER USER", n.Options)
	if err != nil {
		return nil, err
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	u, err := s.user(n.Role)
	if err != nil || !o.given {
		return done("ALTER ROLE"), err
	}
	return done("ALTER ROLE"), s.putUser(u.ID, u.Name, o.password)
}

// dropUser runs DROP USER. Nobody drops the user that he is, so the door stays shut once there was a user who came in by it.
func (s *Session) dropUser(ctx context.Context, n *pg_query.DropRoleStmt) (*Result, error) {
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	for _, role := range n.Roles {
		u, err := s.user(role.GetRoleSpec())
		switch {
		case err != nil && n.MissingOk && role.GetRoleSpec().GetRolename() != "":
			s.notice("NOTICE", "00000", fmt.Sprintf("role \"%s\" does not exist, skipping", role.GetRoleSpec().Rolename))
		case err != nil:
			return nil, err
		case u.Name == s.options.User:
			return nil, failure("55006", "current user cannot be dropped")
		default:
			s.txn.change(catalog.Change{Drop: u.ID})
		}
	}
	return done("DROP ROLE"), nil
}

// user finds the user that a statement names.
func (s *Session) user(role *pg_query.RoleSpec) (*catalog.User, error) {
	name := role.GetRolename()
	if t := role.GetRoletype(); t == pg_query.RoleSpecType_ROLESPEC_CURRENT_USER || t == pg_query.RoleSpecType_ROLESPEC_SESSION_USER || t == pg_query.RoleSpecType_ROLESPEC_CURRENT_ROLE {
		name = s.options.User
	}
	u := s.txn.catalog.UserNamed(name)
	if u == nil {
		return nil, &tailrace.Error{Code: "42704", Message: fmt.Sprintf("role \"%s\" does not exist", name), Hint: "\\du in psql lists the users."}
	}
	return u, nil
}

// putUser keeps a verifier of the password in the place of the user id.
func (s *Session) putUser(id catalog.ID, name, password string) error {
	if err := catalog.WeakPassword(password); err != nil {
		return err
	}
	u, err := catalog.NewUser(name, password)
	if err != nil {
		return failure("22023", "the password cannot be used: it has characters that no login may have")
	}
	u.ID = id
	s.txn.change(catalog.Change{User: u})
	return nil
}

// userOptions are what WITH says of a user.
type userOptions struct {
	password string
	given    bool
	login    bool
}

// userOptions takes the options that say what is so anyway, and the password.
func (s *Session) userOptions(verb string, options []*pg_query.Node) (o userOptions, err error) {
	for _, node := range options {
		d := node.GetDefElem()
		on := d.Arg.GetBoolean().GetBoolval()
		switch {
		case d.Defname == "password" && d.Arg != nil:
			o.password, o.given = d.Arg.GetString_().GetSval(), true
		case d.Defname == "canlogin" && on:
			o.login = true
		case (d.Defname == "superuser" || d.Defname == "inherit" || d.Defname == "createrole" || d.Defname == "bypassrls") && on:
		default:
			return o, s.unsupported(fmt.Sprintf("%s with option \"%s\"", verb, d.Defname), "Every user may log in and do everything; only PASSWORD '...' can be said.")
		}
	}
	return o, nil
}

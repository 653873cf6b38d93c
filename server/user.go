package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
)

// commitTries is how often a change of the catalog is tried when others commit in between. Nobody does on a folder of our own.
const commitTries = 10

// AddUser makes a user, or gives the one that exists a new password, in a folder that no server uses.
func AddUser(ctx context.Context, o Options, name, password string) error {
	if name == "" || password == "" {
		return errors.New("add user: a name and a password are needed")
	}
	u, err := catalog.NewUser(name, password)
	if err == nil {
		err = catalog.WeakPassword(password)
	}
	if err != nil {
		return fmt.Errorf("add user %s: %w", name, err)
	}
	return changeUsers(ctx, o, func(c *catalog.Catalog) (*catalog.Change, error) {
		u.ID = c.NextID
		if old := c.UserNamed(name); old != nil {
			u.ID = old.ID
		}
		return &catalog.Change{User: u}, nil
	})
}

// PasswordVerifier is what is kept of a user's password, in PostgreSQL's form, for CREATE USER ... PASSWORD.
func PasswordVerifier(name, password string) (string, error) {
	u, err := catalog.NewUser(name, password)
	if err != nil {
		return "", err
	}
	return u.Verifier(), nil
}

// DropUser removes a user from a folder that no server uses.
func DropUser(ctx context.Context, o Options, name string) error {
	return changeUsers(ctx, o, func(c *catalog.Catalog) (*catalog.Change, error) {
		u := c.UserNamed(name)
		if u == nil {
			return nil, fmt.Errorf("drop user %s: there is no such user", name)
		}
		return &catalog.Change{Drop: u.ID}, nil
	})
}

// ListUsers names the users of a folder that no server uses, in order.
func ListUsers(ctx context.Context, o Options) (names []string, err error) {
	err = offline(ctx, o, func(_ context.Context, n *node) error {
		for u := range maps.Values(n.catalog.Current().Users) {
			names = append(names, u.Name)
		}
		slices.Sort(names)
		return nil
	})
	return names, err
}

// changeUsers commits the change that fn makes of the newest catalog, in a folder that no server uses.
func changeUsers(ctx context.Context, o Options, fn func(*catalog.Catalog) (*catalog.Change, error)) error {
	return offline(ctx, o, func(ctx context.Context, n *node) error { return n.commitChange(ctx, fn) })
}

// commitChange commits the change that fn makes of the newest catalog.
func (n *node) commitChange(ctx context.Context, fn func(*catalog.Catalog) (*catalog.Change, error)) error {
	for try := 1; ; try++ {
		at, err := n.log.Sync(ctx)
		if err != nil {
			return fmt.Errorf("read the catalog: %w", err)
		}
		change, err := fn(n.catalog.Current())
		if err != nil {
			return err
		}
		_, err = n.log.Commit(ctx, log.Txn{
			ReadTime: at, Reads: []log.Read{{Collection: tailrace.CollectionID(0), Whole: true}}, Records: []log.Record{change.Record()},
		})
		if err == nil || !errors.Is(err, log.ErrConflict) || try == commitTries {
			return err
		}
	}
}

// offline opens the folder, catches up with its log, and runs fn on it.
func offline(ctx context.Context, o Options, fn func(context.Context, *node) error) (err error) {
	n, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	return n.inside(ctx, func(ctx context.Context) error {
		if _, err := n.log.Sync(ctx); err != nil {
			return fmt.Errorf("catch up with the log: %w", err)
		}
		return fn(ctx, n)
	})
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tailrace"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"tailrace/server"
)

// UserCmd groups what is about users.
type UserCmd struct {
	Add  UserAddCmd  `cmd:"" help:"Make a user, or give one a new password."`
	List UserListCmd `cmd:"" help:"Name the users."`
	Drop UserDropCmd `cmd:"" help:"Remove a user."`
}

// Help is shown by --help.
func (c *UserCmd) Help() string {
	return `While no user exists, anybody who reaches the server may come in, and the server listens on loopback only. As soon as one exists,
every client has to prove its password (SCRAM-SHA-256).

With --url the server does it while it runs; --data is for a data folder that no server uses. In SQL it is CREATE USER ann PASSWORD '...', ALTER USER and DROP USER.`
}

// UserTarget is where users are kept. URL wins, since DIR may come from the environment.
type UserTarget struct {
	Data string `env:"TAILRACE_DATA" placeholder:"DIR" help:"The data folder; its server must not run."`
	URL  string `placeholder:"URL" help:"The server that runs, for example postgres://127.0.0.1:6875/postgres."`
}

// AfterApply demands one of the two.
func (t *UserTarget) AfterApply() error {
	if t.Data == "" && t.URL == "" {
		return errors.New("say where: --url URL of the server that runs, or --data DIR when none does")
	}
	return nil
}

// exec runs a statement at the server.
func (t *UserTarget) exec(ctx context.Context, statement string) ([]string, error) {
	conn, err := connect(ctx, t.URL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, statement)
	if err != nil {
		return nil, asError(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, asError(err)
}

// inUse tells what to type instead when a server uses the folder.
func (t *UserTarget) inUse(err error) error {
	var locked *server.LockedError
	if errors.As(err, &locked) {
		return fmt.Errorf("a server (process %s) uses %s: let it do that: give --url postgres://127.0.0.1:6875/postgres in the place of --data", locked.PID, locked.Dir)
	}
	return err
}

// UserAddCmd is `tailrace user add`.
type UserAddCmd struct {
	Name string `arg:"" help:"The user's name."`
	UserTarget
}

// Help is shown by --help.
func (c *UserAddCmd) Help() string {
	return `The password comes from the environment variable TAILRACE_PASSWORD, else from the terminal, else from the first line of stdin. A server that runs is sent what is kept
of it (a SCRAM-SHA-256 verifier), not the password.`
}

// Run adds the user.
func (c *UserAddCmd) Run(ctx context.Context) error {
	password, err := askPassword(c.Name)
	if err != nil {
		return err
	}
	if c.URL != "" {
		err = c.add(ctx, password)
	} else {
		err = c.inUse(server.AddUser(ctx, server.Options{Data: c.Data, Version: version()}, c.Name, password))
	}
	if err != nil {
		return err
	}
	fmt.Printf("user %s may log in: psql postgres://%s@127.0.0.1:6875/postgres\n", c.Name, c.Name)
	return nil
}

// add makes or changes the user at a server.
func (c *UserAddCmd) add(ctx context.Context, password string) error {
	verifier, err := server.PasswordVerifier(c.Name, password)
	if err != nil {
		return err
	}
	name := pgx.Identifier{c.Name}.Sanitize()
	_, err = c.exec(ctx, fmt.Sprintf("CREATE USER %s PASSWORD %s", name, literal(verifier)))
	if e := (*tailrace.Error)(nil); errors.As(err, &e) && e.Code == "42710" {
		_, err = c.exec(ctx, fmt.Sprintf("ALTER USER %s PASSWORD %s", name, literal(verifier)))
	}
	return err
}

// UserListCmd is `tailrace user list`.
type UserListCmd struct {
	UserTarget
}

// Run lists the users.
func (c *UserListCmd) Run(ctx context.Context) (err error) {
	var names []string
	if c.URL != "" {
		names, err = c.exec(ctx, "SELECT rolname FROM pg_catalog.pg_roles WHERE oid <> 10 ORDER BY rolname")
	} else {
		names, err = server.ListUsers(ctx, server.Options{Data: c.Data, Version: version()})
		err = c.inUse(err)
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		fmt.Println(name)
	}
	if len(names) == 0 {
		fmt.Fprintln(os.Stderr, "no users: anybody may come in, from this machine only")
	}
	return nil
}

// UserDropCmd is `tailrace user drop`.
type UserDropCmd struct {
	Name string `arg:"" help:"The user's name."`
	UserTarget
}

// Run drops the user.
func (c *UserDropCmd) Run(ctx context.Context) (err error) {
	if c.URL != "" {
		_, err = c.exec(ctx, "DROP USER "+pgx.Identifier{c.Name}.Sanitize())
	} else {
		err = c.inUse(server.DropUser(ctx, server.Options{Data: c.Data, Version: version()}, c.Name))
	}
	if err != nil {
		return err
	}
	fmt.Printf("user %s is gone\n", c.Name)
	return nil
}

// askPassword takes the password from where the help says.
func askPassword(name string) (string, error) {
	if p, ok := os.LookupEnv("TAILRACE_PASSWORD"); ok {
		return p, nil
	}
	settings, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), unix.TCGETS)
	if err != nil {
		return readLine(os.Stdin) // no terminal
	}
	silent := *settings
	silent.Lflag &^= unix.ECHO
	fmt.Fprintf(os.Stderr, "Password for %s: ", name)
	if err := unix.IoctlSetTermios(int(os.Stdin.Fd()), unix.TCSETS, &silent); err != nil {
		return "", fmt.Errorf("hide the password: %w", err)
	}
	password, err := readLine(os.Stdin)
	fmt.Fprintln(os.Stderr)
	return password, errors.Join(err, unix.IoctlSetTermios(int(os.Stdin.Fd()), unix.TCSETS, settings))
}

// readLine reads the first line of r.
func readLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return "", errors.New("no password given: type it, pipe it to stdin, or set TAILRACE_PASSWORD")
	}
	return line, nil
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace/server"
)

// UserCmd groups what is about users. The folder must not be in use: stop the server first.
type UserCmd struct {
	Add  UserAddCmd  `cmd:"" help:"Make a user, or give one a new password."`
	List UserListCmd `cmd:"" help:"Name the users."`
	Drop UserDropCmd `cmd:"" help:"Remove a user."`
}

// Help is shown by --help.
func (c *UserCmd) Help() string {
	return `While no user exists, anybody who reaches the server may come in, and the server listens on loopback only. As soon as one exists,
every client has to prove its password (SCRAM-SHA-256).

These commands work on a data folder that no server uses: stop the server, add the user, start it again.`
}

// UserAddCmd is `tailrace user add`.
type UserAddCmd struct {
	Name string `arg:"" help:"The user's name."`
	Data string `required:"" env:"TAILRACE_DATA" placeholder:"DIR" help:"The data folder; its server must not run."`
}

// Help is shown by --help.
func (c *UserAddCmd) Help() string {
	return `The password comes from the environment variable TAILRACE_PASSWORD, else from the terminal, else from the first line of stdin.`
}

// Run adds the user.
func (c *UserAddCmd) Run(ctx context.Context) error {
	password, err := askPassword(c.Name)
	if err != nil {
		return err
	}
	if err := server.AddUser(ctx, server.Options{Data: c.Data}, c.Name, password); err != nil {
		return err
	}
	fmt.Printf("user %s may log in: psql postgres://%s@127.0.0.1:6875/postgres\n", c.Name, c.Name)
	return nil
}

// UserListCmd is `tailrace user list`.
type UserListCmd struct {
	Data string `required:"" env:"TAILRACE_DATA" placeholder:"DIR" help:"The data folder; its server must not run."`
}

// Run lists the users.
func (c *UserListCmd) Run(ctx context.Context) error {
	names, err := server.ListUsers(ctx, server.Options{Data: c.Data})
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
	Data string `required:"" env:"TAILRACE_DATA" placeholder:"DIR" help:"The data folder; its server must not run."`
}

// Run drops the user.
func (c *UserDropCmd) Run(ctx context.Context) error {
	if err := server.DropUser(ctx, server.Options{Data: c.Data}, c.Name); err != nil {
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

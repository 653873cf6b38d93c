package main

import (
	"strings"

	"tailrace"
	"tailrace/server"
)

// targetKind is the kind of database that an address of a changefeed's target leads to. Errors do not tell the address, which may have a password in it.
func targetKind(url string) (string, error) {
	switch scheme, _, _ := strings.Cut(url, "://"); scheme {
	case "mysql", "mariadb":
		return "mysql", nil
	case "postgres", "postgresql":
		return "postgres", nil
	}
	return "", &tailrace.Error{
		Code: "08001", Message: "what was given is not the address of a database that can be a target",
		Hint: "Write it as mysql://user@host:3306/database, mariadb://... or postgres://user@host:5432/database.",
	}
}

// openTarget is the database at an address as the target of a changefeed. It does not connect yet.
func openTarget(url, password string) (tailrace.Sink, error) {
	kind, err := targetKind(url)
	if err != nil {
		return nil, err
	}
	return server.OpenTarget(kind, url, password)
}

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// errMissing is what a test prints on a machine without PostgreSQL.
var errMissing = errors.New("no PostgreSQL server found in /usr/lib/postgresql/*/bin or on PATH: install postgresql (make test does)")

// binaries returns the folder that holds initdb and postgres: Debian's version 15 first, since that is what Tailrace answers as, then
// the newest other one, then PATH.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is well-formed
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if i := slices.IndexFunc(found, func(p string) bool { return version(p) == 15 }); i > 0 {
		found[0], found[i] = found[i], found[0]
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	for _, path := range found {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "initdb")); err == nil {
			return filepath.Dir(path), nil
		}
	}
	return "", errMissing
}

// version is the major version in /usr/lib/postgresql/15/bin/postgres, 0 when there is none.
func version(path string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	if err != nil {
		return 0
	}
	return n
}

// account is whom the server runs as; nil means the user of the test.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.New("PostgreSQL does not run as root and there is no user postgres: install postgresql (make test does)")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

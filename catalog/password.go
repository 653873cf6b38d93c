package catalog

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"

	"tailrace"
)

const (
	// scramIterations of a password's hash; PostgreSQL's default.
	scramIterations = 4096
	// maxIterations that a verifier may ask for: each is a hash at every login.
	maxIterations = 1_000_000
	// keyBytes is the length of the keys of SCRAM-SHA-256.
	keyBytes = 32
	// maxSalt bounds a verifier's salt, in bytes.
	maxSalt = 256
)

// verifierPrefix begins the text of a verifier, as PostgreSQL has it in pg_authid: SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey.
const verifierPrefix = "SCRAM-SHA-256$"

// NewUser derives what is kept of a password: never the password. A password that is a SCRAM verifier as PostgreSQL writes it is taken as that, so that a client
// need not show the server the password either.
func NewUser(name, password string) (*User, error) {
	if rest, ok := strings.CutPrefix(password, verifierPrefix); ok {
		if u := parseVerifier(rest); u != nil {
			u.Name = name
			return u, nil
		}
	}
	client, err := scram.SHA256.NewClient(name, password, "")
	if err != nil {
		return nil, fmt.Errorf("hash the password of %s: %w", name, err)
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	keys, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: scramIterations})
	if err != nil {
		return nil, fmt.Errorf("hash the password of %s: %w", name, err)
	}
	return &User{Name: name, Salt: salt, Iterations: scramIterations, StoredKey: keys.StoredKey, ServerKey: keys.ServerKey}, nil
}

// Verifier is what is kept of the user's password, as PostgreSQL writes it.
func (u *User) Verifier() string {
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s%d:%s$%s:%s", verifierPrefix, u.Iterations, text(u.Salt), text(u.StoredKey), text(u.ServerKey))
}

// parseVerifier reads what follows the prefix of a verifier, nil when it is none: then it is a password that looks like one.
func parseVerifier(text string) *User {
	factors, keys, _ := strings.Cut(text, "$")
	iterations, salt, _ := strings.Cut(factors, ":")
	stored, server, _ := strings.Cut(keys, ":")
	u := &User{}
	n, err := strconv.Atoi(iterations)
	if err != nil || n < 1 || n > maxIterations {
		return nil
	}
	u.Iterations = n
	for _, field := range []struct {
		text string
		into *[]byte
	}{{salt, &u.Salt}, {stored, &u.StoredKey}, {server, &u.ServerKey}} {
		if *field.into, err = base64.StdEncoding.DecodeString(field.text); err != nil {
			return nil
		}
	}
	if len(u.Salt) == 0 || len(u.Salt) > maxSalt || len(u.StoredKey) != keyBytes || len(u.ServerKey) != keyBytes {
		return nil
	}
	return u
}

// WeakPassword says why a password is no password, nil when it is one.
func WeakPassword(password string) error {
	if password == "" {
		return &tailrace.Error{Code: "22023", Message: "a user needs a password that is not empty", Hint: "CREATE USER ann PASSWORD '...'."}
	}
	if strings.HasPrefix(password, "md5") && len(password) == 35 {
		return &tailrace.Error{Code: "0A000", Message: "MD5 passwords are not supported", Hint: "Give the password itself, or a SCRAM-SHA-256 verifier."}
	}
	return nil
}

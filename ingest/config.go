package ingest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"strings"

	"tailrace"
	"tailrace/catalog"
)

const (
	slotOption    = "slot"
	maxSlotLength = 63      // bytes, PostgreSQL's
	maxSecretSize = 1 << 16 // bytes of a secret's file
)

// open returns the adapter for s.
func (i *Ingest) open(cat *catalog.Catalog, s *catalog.Source) (tailrace.Source, error) {
	c, err := i.config(cat, s)
	if err != nil {
		return nil, err
	}
	return i.o.Open(c)
}

// config joins the options of s and of its connection and fills the secrets in.
func (i *Ingest) config(cat *catalog.Catalog, s *catalog.Source) (Config, error) {
	conn := cat.Connections[s.Connection]
	if conn == nil {
		return Config{}, &tailrace.Error{
			Code: "42704", Message: fmt.Sprintf("the connection of source %q does not exist", s.Name), Hint: "Drop the source and create it again.",
		}
	}
	c := Config{Kind: s.Kind, Options: maps.Clone(conn.Options)}
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	maps.Copy(c.Options, s.Options)
	for option, name := range conn.Secrets {
		secret := cat.SecretNamed(name)
		if secret == nil {
			return Config{}, &tailrace.Error{
				Code: "42704", Message: fmt.Sprintf("secret %q does not exist", name), Hint: fmt.Sprintf("CREATE SECRET %s AS 'env:NAME';", name),
			}
		}
		value, err := i.o.Secret(secret.Value)
		if err != nil {
			return Config{}, &tailrace.Error{
				Code: "22023", Message: fmt.Sprintf("secret %q: %v", name, err), Err: err, Hint: "The server itself reads it: check its environment and files.",
			}
		}
		c.Options[option] = value
	}
	return c, nil
}

// ResolveSecret returns what a secret's value stands for: 'env:NAME' a variable of the server's environment, 'file:/path' the first line of a
// file, anything else itself.
func ResolveSecret(value string) (string, error) {
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		v, set := os.LookupEnv(name)
		if !set {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return v, nil
	}
	path, ok := strings.CutPrefix(value, "file:")
	if !ok {
		return value, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxSecretSize {
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxSecretSize)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// slotName is the name of what is made at the source: tailrace_<environment>_<source>.
func slotName(environment, source string) string {
	if environment == "" {
		var token [4]byte
		_, _ = rand.Read(token[:]) // never fails
		environment = hex.EncodeToString(token[:])
	}
	name := []byte("tailrace_" + strings.ToLower(environment) + "_" + strings.ToLower(source))
	for i, b := range name {
		if !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9') {
			name[i] = '_'
		}
	}
	return string(name[:min(len(name), maxSlotLength)])
}

package postgres

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"tailrace"
)

// DefaultPublication is the publication that is made and read when nothing else is asked for.
const DefaultPublication = "tailrace"

// Config says how a source is reached and what is made there.
type Config struct {
	Host, Port, Database, User, Password string
	SSLMode                              string // as libpq has it; "" is prefer
	SSLRootCert                          string // a file, as libpq has it; "" is the system's
	Publication                          string // "" is DefaultPublication
	Slot                                 string // [a-z0-9_], at most 63 bytes
	// Parse appends the value that text is in type t to c; wrong text is an error and appends nothing. text is valid during the call only.
	// It is format.ParseText with format.Default(), which are the settings that every connection here pins.
	Parse  func(c *tailrace.Column, t tailrace.Type, text string) error
	Logger *slog.Logger // nil: slog.Default()

	// StatusInterval is how often the source is told what is durable here; 0: 3 s.
	StatusInterval time.Duration
	// DeadAfter is how long a source may be silent, though asked, before it counts as dead; 0: 30 s.
	DeadAfter time.Duration
}

// FromOptions fills a Config from the options of CREATE CONNECTION and CREATE SOURCE. Parse and Logger stay for the caller to set.
func FromOptions(options map[string]string) (Config, error) {
	c := Config{}
	fields := map[string]*string{
		"host": &c.Host, "port": &c.Port, "database": &c.Database, "user": &c.User, "password": &c.Password,
		"ssl mode": &c.SSLMode, "sslmode": &c.SSLMode, "publication": &c.Publication, "slot": &c.Slot,
	}
	for name, value := range options {
		f := fields[strings.ToLower(name)]
		if f == nil {
			return Config{}, &tailrace.Error{
				Code: "42601", Message: fmt.Sprintf("option %q is not one of a PostgreSQL source", name),
				Hint: "Known are HOST, PORT, DATABASE, USER, PASSWORD, SSL MODE, PUBLICATION and SLOT.",
			}
		}
		*f = value
	}
	return c, nil
}

// FromURL fills a Config from a postgres:// URL.
func FromURL(raw string) (Config, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return Config{}, &tailrace.Error{ // without raw, and err that has it: there may be a password in it
			Code: "08001", Message: "what was given is not the address of a PostgreSQL",
			Hint: "Write it as postgres://user@host:5432/database.",
		}
	}
	c := Config{Host: u.Hostname(), Port: u.Port(), Database: strings.TrimPrefix(u.Path, "/"), User: u.User.Username()}
	c.Password, _ = u.User.Password()
	q := u.Query()
	c.SSLMode, c.SSLRootCert = q.Get("sslmode"), q.Get("sslrootcert")
	if h := q.Get("host"); h != "" {
		c.Host = h
	}
	if p := q.Get("port"); p != "" {
		c.Port = p
	}
	if u := q.Get("user"); u != "" {
		c.User = u
	}
	return c, nil
}

// withDefaults fills what was left empty.
func (c Config) withDefaults() Config {
	set := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	set(&c.Host, "127.0.0.1")
	set(&c.Port, "5432")
	set(&c.User, "postgres")
	set(&c.Database, c.User)
	set(&c.SSLMode, "prefer")
	set(&c.Publication, DefaultPublication)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.StatusInterval == 0 {
		c.StatusInterval = 3 * time.Second
	}
	if c.DeadAfter == 0 {
		c.DeadAfter = 30 * time.Second
	}
	return c
}

// address is where the source is, for messages.
func (c *Config) address() string {
	return net.JoinHostPort(c.Host, c.Port) + "/" + c.Database
}

// dsn is the connection string that pgconn parses; values are quoted.
func (c *Config) dsn() string {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for _, kv := range [][2]string{
		{"host", c.Host},
		{"port", c.Port},
		{"dbname", c.Database},
		{"user", c.User},
		{"password", c.Password},
		{"sslmode", c.SSLMode},
		{"sslrootcert", c.SSLRootCert},
		{"connect_timeout", "10"},
		{"application_name", "tailrace"},
	} {
		if kv[1] != "" {
			fmt.Fprintf(&b, "%s='%s' ", kv[0], quote.Replace(kv[1]))
		}
	}
	return b.String()
}

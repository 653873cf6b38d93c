package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"tailrace"
)

// session are the settings that decide what a value becomes, and how long a lock is waited for. They win over the server's defaults.
var session = map[string]string{
	"sql_mode":                 "'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
	"time_zone":                "'+00:00'",
	"lock_wait_timeout":        "60",
	"innodb_lock_wait_timeout": "20",
	"foreign_key_checks":       "1",
	"unique_checks":            "1",
}

// dialTimeout bounds the wait for a server that does not answer.
const dialTimeout = 10 * time.Second

// parseURL reads mysql://user:password@host:3306/database. Its parameters are tls and ca:
//
//	tls=off      never
//	tls=prefer   if the server can, without asking who it is: the default
//	tls=verify   always, and the server has to prove its name
//	ca=FILE      verify, by the authorities in FILE
func parseURL(rawURL string, options tailrace.SinkOptions) (*driver.Config, error) {
	wrong := func(message, hint string) error { // without rawURL, and url's error that has it: there may be a password in it
		return &tailrace.Error{Code: "08001", Message: message, Hint: hint}
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" || strings.Trim(u.Path, "/") == "" {
		return nil, wrong("what was given is not the address of a MariaDB or MySQL", "Write it as mysql://user@host:3306/database.")
	}
	c := driver.NewConfig()
	c.User, c.DBName = u.User.Username(), strings.Trim(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	if options.Password != "" {
		c.Passwd = options.Password
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "3306"
	}
	c.Net, c.Addr = "tcp", net.JoinHostPort(host, port)
	c.Collation, c.Params = "utf8mb4_bin", session
	c.Timeout, c.MaxAllowedPacket = dialTimeout, 0 // as the server says
	c.InterpolateParams, c.ClientFoundRows, c.MultiStatements = true, true, true
	c.Logger = &driver.NopLogger{} // what it tells, the errors tell too
	q := u.Query()
	for name := range q {
		if name != "tls" && name != "ca" {
			return nil, wrong(fmt.Sprintf("parameter %q is not one of a mysql:// address", name), "Known are tls (off, prefer, verify) and ca.")
		}
	}
	return c, secure(c, q.Get("tls"), q.Get("ca"), host)
}

// secure sets what TLS is to be.
func secure(c *driver.Config, mode, ca, host string) error {
	switch {
	case ca != "":
		pem, err := os.ReadFile(ca)
		if err != nil {
			return &tailrace.Error{Code: "58030", Message: "read the certificate authorities: " + err.Error(), Hint: "Give the path of a PEM file in ca.", Err: err}
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return &tailrace.Error{Code: "58030", Message: ca + " has no certificate in PEM form", Hint: "Give the path of a PEM file in ca."}
		}
		c.TLS = &tls.Config{RootCAs: pool, ServerName: host, MinVersion: tls.VersionTLS12}
	case mode == "verify":
		c.TLS = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	case mode == "" || mode == "prefer":
		c.TLSConfig, c.AllowFallbackToPlaintext = "preferred", true
	case mode != "off":
		return &tailrace.Error{Code: "08001", Message: fmt.Sprintf("tls=%s is not known", mode), Hint: "Write tls=off, tls=prefer or tls=verify."}
	}
	return nil
}

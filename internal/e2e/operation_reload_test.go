package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// writeCertificate writes a certificate for localhost that is called name, and its key.
func writeCertificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// overTLS connects with TLS and returns the connection and the name of the certificate that the server showed.
func (s *server) overTLS(t *testing.T) (*pgx.Conn, string, error) {
	t.Helper()
	cfg, err := pgx.ParseConfig(s.url + "?sslmode=require")
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	cfg.TLSConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(c tls.ConnectionState) error {
		name = c.PeerCertificates[0].Subject.CommonName
		return nil
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err == nil {
		t.Cleanup(func() { conn.Close(context.Background()) })
	}
	return conn, name, err
}

// hangup sends SIGHUP and waits until the log has said want n times.
func (s *server) hangup(t *testing.T, want string, n int) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 400 {
		if strings.Count(s.log.String(), want) >= n {
			return
		}
		<-time.After(25 * time.Millisecond)
	}
	t.Fatalf("after SIGHUP: %q is not in the log %d times in 10 s:\n%s", want, n, s.log)
}

// TestHangupReloadsWithoutDroppingSessions: log level, certificate and connection limit change at once; sessions go on; a file that is wrong changes nothing.
func TestHangupReloadsWithoutDroppingSessions(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, "first")
	config := filepath.Join(dir, "tailrace.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(fmt.Sprintf("tls-cert = %q\ntls-key = %q\n%s", cert, key, text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log-level = \"error\"\nmax-connections = 50\n")
	s := start(t, "--config", config)
	old, name, err := s.overTLS(t)
	if err != nil || name != "first" {
		t.Fatalf("over TLS: got certificate %q, %v, want first", name, err)
	}
	c := s.connect(t)
	c.run("CREATE TABLE t (a int); INSERT INTO t VALUES (0)")
	c.declare("SUBSCRIBE t")
	c.fetch(1)
	if text := s.log.String(); strings.Contains(text, "level=INFO") {
		t.Errorf("at level error the log has:\n%s", text)
	}

	writeCertificate(t, dir, "second")
	write("log-level = \"debug\"\nmax-connections = 3\n")
	s.hangup(t, "msg=reloaded", 1)
	if _, name, err := s.overTLS(t); err != nil || name != "second" {
		t.Errorf("over TLS after the reload: got certificate %q, %v, want second", name, err)
	}
	_, _, err = s.overTLS(t)
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "53300" {
		t.Errorf("the fourth of three sessions: got %v, want 53300", err)
	}

	if _, err := old.Exec(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Errorf("session of before: got %v, want none", err)
	}
	if rows := c.fetch(1); len(rows) != 1 || !strings.HasSuffix(rows[0], " 1 1") {
		t.Errorf("subscription of before: got %q, want the row", rows)
	}

	for i, broken := range []string{"log-level = \"loud\"\n", "no = \"such key\"\n", "max-connections = \"many\"\n", "this is no TOML"} {
		write(broken)
		s.hangup(t, "reload: nothing changes", i+1)
	}
	if err := os.WriteFile(cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("max-connections = 50\n")
	s.hangup(t, "reload: nothing changes", 5)
	if _, _, err = s.overTLS(t); !errors.As(err, &e) || e.Code != "53300" {
		t.Errorf("the limit after files that are wrong: got %v, want 53300 as before", err)
	}
	c.run("ROLLBACK")
	writeCertificate(t, dir, "third")
	s.hangup(t, "msg=reloaded", 2)
	if _, name, err := s.overTLS(t); err != nil || name != "third" {
		t.Errorf("after the files were mended: got certificate %q, %v, want third", name, err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

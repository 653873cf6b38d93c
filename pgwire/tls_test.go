package pgwire_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace/server"
)

// certificate writes a certificate for localhost that signs itself, and its key.
func certificate(t *testing.T, name string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, kind string, der []byte) string {
		path = filepath.Join(t.TempDir(), path)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write(name+".crt", "CERTIFICATE", raw), write(name+".key", "PRIVATE KEY", der)
}

// psql runs one statement and returns what is printed, errors included.
func psql(t *testing.T, env []string, conninfo, statement string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "psql", "-XAtq", "-c", statement, conninfo)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestPasswordsAreBoundToTLS logs in with psql and pgx, which prove the password over the certificate they see.
func TestPasswordsAreBoundToTLS(t *testing.T) {
	cert, key := certificate(t, "server", 1)
	dir := t.TempDir()
	if err := server.AddUser(t.Context(), server.Options{Data: dir}, "ann", "secret"); err != nil {
		t.Fatal(err)
	}
	r := startWith(t, server.Options{Data: dir, TLSCert: cert, TLSKey: key})
	host, port, _ := strings.Cut(r.addr, ":")
	base := fmt.Sprintf("host=%s port=%s user=ann dbname=postgres ", host, port)
	for _, c := range []struct{ conninfo, password, want string }{
		{"sslmode=verify-full channel_binding=require sslrootcert=" + cert, "secret", "1"},
		{"sslmode=require channel_binding=disable", "secret", "1"},
		{"sslmode=disable", "secret", "1"},
		{"sslmode=disable channel_binding=require", "secret", "channel binding required, but"},
		{"sslmode=verify-full channel_binding=require sslrootcert=" + cert, "wrong", `password authentication failed for user "ann"`},
	} {
		if got, err := psql(t, []string{"PGPASSWORD=" + c.password}, base+c.conninfo, "SELECT 1"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q (%v), want %q", c.conninfo, got, err, c.want)
		}
	}
	conn, err := pgx.Connect(t.Context(), base+"password=secret sslmode=verify-full sslrootcert="+cert)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	const large = 3 << 20 // more than any buffer on the way
	var got string
	if err := conn.QueryRow(t.Context(), "SELECT repeat($1, $2)", "x", large).Scan(&got); err != nil || len(got) != large {
		t.Errorf("a large value through TLS: got %d bytes, %v, want %d", len(got), err, large)
	}
}

func TestPlainSessionsCanBeRefused(t *testing.T) {
	cert, key := certificate(t, "server", 1)
	r := startWith(t, server.Options{Data: t.TempDir(), TLSCert: cert, TLSKey: key, RequireTLS: true})
	_, err := pgconn.Connect(t.Context(), "postgres://u@"+r.addr+"/postgres?sslmode=disable")
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "28000" {
		t.Errorf("in the clear: got %v, want 28000", err)
	}
	c, err := pgconn.Connect(t.Context(), "postgres://u@"+r.addr+"/postgres?sslmode=require")
	if err != nil {
		t.Fatalf("with TLS: %v", err)
	}
	c.Close(t.Context())
}

// TestBytesBehindAnSSLRequestAreNotBelieved sends a startup packet in the clear behind the request, as somebody in between would: it must not be
// taken for what comes out of TLS.
func TestBytesBehindAnSSLRequestAreNotBelieved(t *testing.T) {
	cert, key := certificate(t, "server", 1)
	r := startWith(t, server.Options{Data: t.TempDir(), TLSCert: cert, TLSKey: key})
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	request := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 8), 80877103)
	injected, err := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "eve"}}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Write(append(request, injected...)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1)
	if _, err := io.ReadFull(nc, answer); err != nil || answer[0] != 'S' {
		t.Fatalf("the answer to an SSL request: got %q, %v, want S", answer, err)
	}
	if err := tls.Client(nc, &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("the handshake succeeded over bytes that were sent in the clear")
	}
}

// TestReloadChangesTheCertificate gives a running server another certificate; sessions that are open stay.
func TestReloadChangesTheCertificate(t *testing.T) {
	first, firstKey := certificate(t, "first", 1)
	second, secondKey := certificate(t, "second", 2)
	reload := make(chan server.Options)
	o := server.Options{Data: t.TempDir(), TLSCert: first, TLSKey: firstKey, Reload: reload}
	r := startWith(t, o)
	open, err := pgconn.Connect(t.Context(), "postgres://u@"+r.addr+"/postgres?sslmode=verify-full&sslrootcert="+first)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close(context.Background())
	o.TLSCert = "missing"
	reload <- o // changes nothing
	o.TLSCert, o.TLSKey = second, secondKey
	reload <- o
	reload <- o // whoever takes this has done the one before
	c, err := pgconn.Connect(t.Context(), "postgres://u@"+r.addr+"/postgres?sslmode=verify-full&sslrootcert="+second)
	if err != nil {
		t.Fatalf("with the second certificate: %v", err)
	}
	c.Close(t.Context())
	if _, err := open.Exec(t.Context(), "SELECT 1").ReadAll(); err != nil {
		t.Errorf("a session from before the reload: %v", err)
	}
}

// TestProtocol32HasLongSecrets asks for each minor version and cancels with the secret it got.
func TestProtocol32HasLongSecrets(t *testing.T) {
	r := startServer(t)
	for _, c := range []struct{ minor, negotiated, secret int }{{0, -1, 4}, {1, -1, 4}, {2, -1, 32}, {9999, 2, 32}} {
		w := dial(t, r.addr)
		w.front.Send(&pgproto3.StartupMessage{ProtocolVersion: uint32(3<<16 + c.minor), Parameters: map[string]string{"user": "u"}})
		w.flush()
		answers := strings.Join(w.untilReady(), "\n")
		if len(w.secret) != c.secret {
			t.Errorf("3.%d: a secret of %d bytes, want %d", c.minor, len(w.secret), c.secret)
		}
		if got := strings.Contains(answers, "NegotiateProtocolVersion"); got != (c.negotiated >= 0) {
			t.Errorf("3.%d: answers %s", c.minor, answers)
		}
		w.send(`Query "SELECT g FROM generate_series(1, 100000000000) g"`)
		w.flush()
		w.until("DataRow")
		w.cancel()
		if got := w.until("ErrorResponse"); !strings.Contains(got[len(got)-1], "57014") {
			t.Errorf("3.%d: the statement ended with %s", c.minor, got[len(got)-1])
		}
	}
}

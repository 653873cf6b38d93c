package mysql_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tailrace/internal/mytest"
)

// certificate writes a certificate for 127.0.0.1 that proves itself, and its key, for everybody to read: the server runs as another user.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "target"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "tls-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, raw []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}

func TestTLSIsWhatTheAddressAsksFor(t *testing.T) {
	cert, key := certificate(t)
	stranger, _ := certificate(t)
	server := mytest.Start(t, "ssl-cert="+cert, "ssl-key="+key, "require-secure-transport=ON")
	for _, c := range []struct {
		params string
		works  bool
	}{
		{"", true},
		{"?tls=prefer", true},
		{"?ca=" + cert, true},
		{"?tls=verify", false}, // the system does not know it
		{"?ca=" + stranger, false},
		{"?tls=off", false},
	} {
		_, err := openSink(t, server.URL()+c.params).Prepare(t.Context(), "tls", 1)
		if (err == nil) != c.works {
			t.Errorf("%q: got error %v, want one: %v", c.params, err, !c.works)
		}
	}
	plain := mytest.Shared(t)
	if _, err := openSink(t, plain.URL()).Prepare(t.Context(), "tls", 1); err != nil {
		t.Errorf("a server without TLS: got %v, want it reached", err)
	}
	if _, err := openSink(t, plain.URL()+"?ca="+cert).Prepare(t.Context(), "tls", 1); err == nil {
		t.Error("a server without TLS that has to prove itself: got no error")
	}
}

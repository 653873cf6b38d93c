package pgwire

import (
	"context"
	"crypto"
	_ "crypto/sha512" // of certificates' signatures
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"

	"github.com/xdg-go/scram"

	"tailrace"
)

// The bytes that answer an SSL request.
const (
	answerTLS   = 'S'
	answerPlain = 'N'
)

// feed tells a connection's reader what to read next: one packet's head, or all there is.
type feed struct {
	from io.Reader
	all  bool
}

// secure answers an SSL request: with TLS when the server has a certificate, else with N. Nothing that the client sent behind the request is read
// before it is decrypted: the reader waits for its next feed.
func (c *conn) secure(ctx context.Context) error {
	config := c.server.tls()
	if config == nil {
		return c.plain()
	}
	c.out.buf = append(c.out.buf, answerTLS)
	if err := c.out.flush(); err != nil {
		return err
	}
	t := tls.Server(c.peer, config)
	if err := t.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake: %w: %w", err, errProtocol)
	}
	c.tls, c.out.to = t, t
	c.binding = channelBinding(config)
	c.feed(feed{t, true})
	return nil
}

// plain refuses what the client asked for, in the clear; it may ask for something else.
func (c *conn) plain() error {
	c.out.buf = append(c.out.buf, answerPlain)
	if err := c.out.flush(); err != nil {
		return err
	}
	c.reader <- feed{c.peer, false}
	return nil
}

// feed lets the reader go on with all that comes, once.
func (c *conn) feed(f feed) {
	if !c.fed {
		c.fed = true
		c.reader <- f
	}
}

// channelBinding ties a password's proof to the certificate that the client sees (RFC 5929, tls-server-end-point), so that nobody in between
// can pass it on. It is empty when the certificate's signature has no hash of its own.
func channelBinding(config *tls.Config) scram.ChannelBinding {
	if len(config.Certificates) == 0 || config.Certificates[0].Leaf == nil {
		return scram.ChannelBinding{}
	}
	leaf := config.Certificates[0].Leaf
	var hash crypto.Hash
	switch leaf.SignatureAlgorithm {
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		hash = crypto.SHA384
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		hash = crypto.SHA512
	case x509.PureEd25519, x509.UnknownSignatureAlgorithm:
		return scram.ChannelBinding{}
	default: // MD5 and SHA-1 stand for SHA-256 too
		hash = crypto.SHA256
	}
	sum := hash.New()
	sum.Write(leaf.Raw)
	return scram.ChannelBinding{Type: scram.ChannelBindingTLSServerEndpoint, Data: sum.Sum(nil)}
}

// errPlain refuses a session in the clear where the server demands TLS.
var errPlain = &tailrace.Error{
	Severity: "FATAL", Code: "28000", Message: "the server takes connections with TLS only", Hint: "Connect with sslmode=require, or better sslmode=verify-full.",
}

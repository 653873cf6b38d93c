package pgwire

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"tailrace"
)

// The ways to prove a password (RFC 7677): with TLS, bound to the connection, or not.
const (
	mechanism     = "SCRAM-SHA-256"
	mechanismPlus = "SCRAM-SHA-256-PLUS"
)

// mockSecret makes the answers for users that do not exist, so that a client cannot tell who does: the same name always gets
// the same salt. It is new in each process, as are its answers.
type mockSecret [sha256.Size]byte

func newMockSecret() (s mockSecret) {
	rand.Read(s[:]) // never fails
	return s
}

// credentials are what user's password would be checked against; nothing matches them.
func (s mockSecret) credentials(user string) scram.StoredCredentials {
	sum := hmac.New(sha256.New, s[:])
	sum.Write([]byte(user))
	key := sum.Sum(nil)
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(key[:16]), Iters: 4096}, StoredKey: key, ServerKey: key,
	}
}

// authenticate lets user in, or returns why not. While no user exists, anybody may come in.
func (c *conn) authenticate(ctx context.Context, user string) error {
	users := c.server.engine.Catalog.Current()
	if len(users.Users) == 0 {
		return nil
	}
	known := c.server.mock.credentials(user)
	if u := users.UserNamed(user); u != nil {
		known = scram.StoredCredentials{
			KeyFactors: scram.KeyFactors{Salt: string(u.Salt), Iters: u.Iterations}, StoredKey: u.StoredKey, ServerKey: u.ServerKey,
		}
	}
	// The name inside SCRAM is ignored, as PostgreSQL does; psql sends an empty one.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return known, nil })
	if err != nil {
		return fmt.Errorf("prepare authentication: %w", err)
	}
	mechanisms := []string{mechanism}
	if c.binding.IsSupported() {
		mechanisms = []string{mechanismPlus, mechanism}
	}
	c.out.send(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms})
	chosen, first, err := c.initialResponse(ctx)
	if err != nil {
		return err
	}
	talk := server.NewConversationWithChannelBinding(c.binding) // finds out who was kept from seeing that binding is offered
	switch {
	case !slices.Contains(mechanisms, chosen), chosen == mechanism && strings.HasPrefix(first, "p="):
		return &tailrace.Error{Severity: "FATAL", Code: "08P01", Message: "client selected an invalid SASL authentication mechanism"}
	case chosen == mechanismPlus:
		talk = server.NewConversationWithChannelBindingRequired(c.binding)
	}
	answer, err := talk.Step(first)
	if err != nil {
		return c.refuse(user, err)
	}
	c.out.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(answer)})
	body, err := c.password(ctx)
	if err != nil {
		return err
	}
	answer, err = talk.Step(string(body))
	if err != nil || !talk.Valid() {
		return c.refuse(user, err)
	}
	c.out.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(answer)})
	return nil
}

// initialResponse receives the client's choice of mechanism and its first message.
func (c *conn) initialResponse(ctx context.Context) (chosen, first string, err error) {
	body, err := c.password(ctx)
	if err != nil {
		return "", "", err
	}
	var m pgproto3.SASLInitialResponse
	if err := m.Decode(body); err != nil {
		return "", "", fmt.Errorf("SASL response: %w: %w", err, errProtocol)
	}
	return m.AuthMechanism, string(m.Data), nil
}

// password sends what waits to be sent and receives the client's next message of the exchange.
func (c *conn) password(ctx context.Context) ([]byte, error) {
	if err := c.out.flush(); err != nil {
		return nil, err
	}
	kind, body, err := c.receive(ctx, StartupBytes, nil)
	if err == nil && kind != 'p' {
		err = &tailrace.Error{Severity: "FATAL", Code: "08P01", Message: fmt.Sprintf("expected SASL response, got message type %d", kind)}
	}
	return body, err
}

// refuse is the one answer to a wrong password, an unknown user and a broken exchange.
func (c *conn) refuse(user string, why error) error {
	c.server.authFailures.Add(1)
	if why == nil {
		why = errors.New("the exchange is not complete")
	}
	return &tailrace.Error{
		Severity: "FATAL", Code: "28P01", Message: fmt.Sprintf("password authentication failed for user %q", user), Err: why,
	}
}

package pgwire

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
	"tailrace/sql"
)

// startup takes the connection from its first packet to ReadyForQuery. It is false for a connection that is not to become a session.
func (c *conn) startup(ctx context.Context) (bool, error) {
	ctx, done := context.WithTimeoutCause(ctx, StartupTime, errStartupTime)
	defer done()
	params, err := c.greet(ctx)
	if params == nil || err != nil {
		if errors.Is(err, errStopped) {
			err = errShutdown
		}
		return false, err
	}
	user := params["user"]
	if user == "" {
		return false, &tailrace.Error{Severity: "FATAL", Code: "28000", Message: "no PostgreSQL user name specified in startup packet"}
	}
	if params["replication"] != "" && params["replication"] != "false" {
		return false, &tailrace.Error{
			Severity: "FATAL", Code: "0A000", Message: "replication connections are not supported", Hint: "Connect normally and type SUBSCRIBE table.",
		}
	}
	if err := c.authenticate(ctx, user); err != nil {
		return false, err
	}
	return c.begin(user, params)
}

// greet answers SSL and GSS requests with N, serves a cancel request, and returns the parameters of a startup packet; nil when there is none.
func (c *conn) greet(ctx context.Context) (map[string]string, error) {
	for refused := 0; ; refused++ {
		code, body, err := c.receiveStartup(ctx)
		switch {
		case err != nil:
			return nil, err
		case code == codeCancel && len(body) >= 4:
			c.server.cancel(int32(binary.BigEndian.Uint32(body)), body[4:])
			return nil, nil
		case code == codeSSL && c.tls == nil && refused < 2:
			if err := c.secure(ctx); err != nil {
				return nil, err
			}
		case code == codeGSS && c.tls == nil && refused < 2:
			if err := c.plain(); err != nil {
				return nil, err
			}
		case code>>16 == 3:
			if c.tls == nil && c.server.onlyTLS() {
				return nil, errPlain
			}
			params, err := parameters(body)
			if err == nil {
				c.negotiate(code, params)
			}
			return params, err
		case code>>16 < 3 && code != 0:
			return nil, &tailrace.Error{
				Severity: "FATAL", Code: "0A000",
				Message: fmt.Sprintf("unsupported frontend protocol %d.%d: server supports 3.0 to 3.2", code>>16, code&0xffff),
			}
		default:
			return nil, fmt.Errorf("startup code %d: %w", code, errProtocol)
		}
	}
}

// parameters reads the names and values of a startup packet.
func parameters(body []byte) (map[string]string, error) {
	params := map[string]string{}
	rest := string(body)
	for {
		name, after, ok := strings.Cut(rest, "\x00")
		if name == "" {
			if !ok || after != "" {
				return nil, fmt.Errorf("startup packet without its end: %w", errProtocol)
			}
			return params, nil
		}
		value, next, ok := strings.Cut(after, "\x00")
		if !ok {
			return nil, fmt.Errorf("startup parameter %q without a value: %w", name, errProtocol)
		}
		params[name], rest = value, next
	}
}

// newestMinor is the newest minor version of protocol 3 that is spoken here. With 3.2 a session's secret is longer.
const (
	newestMinor    = 2
	secretBytes    = 4  // up to protocol 3.1
	secretBytes3_2 = 32 // from 3.2 on
)

// negotiate fixes the protocol's version, and tells a client that asks for more than there is what it gets, and which protocol options are not
// known here.
func (c *conn) negotiate(code uint32, params map[string]string) {
	minor := code & 0xffff
	c.secret = make([]byte, secretBytes)
	if minor >= 2 {
		c.secret = make([]byte, secretBytes3_2)
	}
	rand.Read(c.secret) // never fails
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
			delete(params, name)
		}
	}
	if minor > newestMinor || unknown != nil {
		c.out.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: min(minor, newestMinor), UnrecognizedOptions: unknown})
	}
}

// begin starts the session of an authenticated user.
func (c *conn) begin(user string, params map[string]string) (bool, error) {
	if n := c.server.sessions.Add(1); n > c.server.max.Load() {
		c.server.sessions.Add(-1)
		c.server.refused.Add(1)
		return false, errTooMany
	}
	database := params["database"]
	if database == "" {
		database = "postgres"
	}
	delete(params, "user")
	delete(params, "database")
	delete(params, "replication")
	c.out.send(&pgproto3.AuthenticationOk{})
	session, err := c.server.engine.NewSession(sql.SessionOptions{
		User: user, Database: database, Params: params, ID: c.id,
		Notice: func(e *tailrace.Error) {
			c.out.send(notice(e))
			_ = c.out.flush() // the error stays in the outbox, where the session finds it
		},
		Client: c.peer.RemoteAddr().String(), Cancel: c.cancelStatement, Terminate: func() { c.interrupt(errTerminated) },
		Report: func(name, value string) { c.out.send(&pgproto3.ParameterStatus{Name: name, Value: value}) },
	})
	if err != nil {
		c.server.sessions.Add(-1)
		e := *form(err)
		e.Severity = "FATAL"
		return false, &e
	}
	c.session = session
	for _, p := range session.Reported() {
		c.out.send(&pgproto3.ParameterStatus{Name: p[0], Value: p[1]})
	}
	c.out.send(&pgproto3.BackendKeyData{ProcessID: uint32(c.id), SecretKey: c.secret})
	return true, c.ready()
}

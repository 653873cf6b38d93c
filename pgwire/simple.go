package pgwire

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
	"tailrace/parse"
)

// query is the simple protocol: a text of statements, each answered in turn; the first error ends it.
func (c *conn) query(ctx context.Context, body []byte) error {
	c.server.statements.Add(1)
	// As in PostgreSQL, a simple query does away with the unnamed statement and portal.
	c.statements.drop("")
	c.portals.drop("")
	if err := c.runAll(ctx, body); err != nil {
		if err := c.fail(ctx, err); err != nil {
			return err
		}
	}
	return c.ready()
}

func (c *conn) runAll(ctx context.Context, body []byte) error {
	text, rest, ok := strings.Cut(string(body), "\x00")
	if !ok || rest != "" {
		return violation("invalid message format")
	}
	if err := validText(text); err != nil {
		return err
	}
	list, err := c.session.Parse(text)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		c.out.send(&pgproto3.EmptyQueryResponse{})
	}
	for i, st := range list {
		if err := c.runOne(ctx, st, i == len(list)-1); err != nil {
			return err
		}
	}
	return nil
}

// runOne answers one statement.
func (c *conn) runOne(ctx context.Context, st *parse.Statement, last bool) error {
	res, err := c.session.Run(ctx, st, last)
	if err != nil {
		return err
	}
	defer res.Close()
	s := &sending{res: res, formats: make([]bool, len(res.Columns)), settings: c.session.Format()}
	if res.Columns != nil && res.CopyOut == nil && res.CopyIn == nil {
		c.out.send(describe(res.Columns, s.formats))
	}
	sent, _, err := c.deliver(ctx, s, 0)
	if err != nil {
		return err
	}
	return c.complete(ctx, s, sent)
}

// validText reports text that is no UTF-8 as PostgreSQL does.
func validText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return &tailrace.Error{Code: "22021", Message: fmt.Sprintf("invalid byte sequence for encoding \"UTF8\": %#02x", text[i])}
		}
		i += n
	}
	return nil
}

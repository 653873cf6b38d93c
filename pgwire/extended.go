package pgwire

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
	"tailrace/sql"
)

// extended does what one message of the extended protocol asks for. Answers wait in the outbox for Sync or Flush.
func (c *conn) extended(ctx context.Context, kind byte, body []byte) error {
	switch kind {
	case 'P':
		return c.parse(ctx, body)
	case 'B':
		return c.bind(ctx, body)
	case 'D':
		return c.describe(ctx, body)
	case 'E':
		return c.execute(ctx, body)
	}
	return c.close(body)
}

// sync ends a cycle: the implicit transaction commits, and after an error the client is in step again.
func (c *conn) sync(ctx context.Context) error {
	if err := c.session.Sync(ctx); err != nil {
		if err := c.fail(ctx, err); err != nil {
			return err
		}
	}
	c.skip, c.midway = false, false
	return c.ready()
}

func (c *conn) parse(ctx context.Context, body []byte) error {
	var m pgproto3.Parse
	if err := m.Decode(body); err != nil {
		return violation("invalid message format")
	}
	if err := validText(m.Query); err != nil {
		return err
	}
	if m.Name == "" {
		c.statements.drop("")
	} else if _, err := c.statements.get(m.Name); err == nil {
		return &tailrace.Error{Code: "42P05", Message: "prepared statement \"" + m.Name + "\" already exists"}
	}
	p, err := c.session.Prepare(ctx, m.Query, m.ParameterOIDs)
	if err != nil {
		return err
	}
	if err := c.statements.put(m.Name, &prepared{Prepared: p, bytes: len(m.Query)}); err != nil {
		return err
	}
	c.out.send(&pgproto3.ParseComplete{})
	return nil
}

func (c *conn) bind(ctx context.Context, body []byte) error {
	var m pgproto3.Bind
	if err := m.Decode(body); err != nil {
		return violation("invalid message format")
	}
	p, err := c.statements.get(m.PreparedStatement)
	if err != nil {
		return err
	}
	if m.DestinationPortal == "" {
		c.portals.drop("")
	} else if _, err := c.portals.get(m.DestinationPortal); err == nil {
		return &tailrace.Error{Code: "42P03", Message: "cursor \"" + m.DestinationPortal + "\" already exists"}
	}
	params, err := bindParams(&m, len(p.ParamOIDs))
	if err != nil {
		return err
	}
	formats, err := resultFormats(m.ResultFormatCodes, len(p.Columns))
	if err != nil {
		return err
	}
	bound, err := c.session.Bind(ctx, p.Prepared, params)
	if err != nil {
		return err
	}
	o := &portal{bound: bound, columns: p.Columns, empty: p.Empty, bytes: len(body), sending: &sending{formats: formats}}
	if err := c.portals.put(m.DestinationPortal, o); err != nil {
		return err
	}
	c.out.send(&pgproto3.BindComplete{})
	return nil
}

// bindParams are the parameters of m for a statement that takes want of them.
func bindParams(m *pgproto3.Bind, want int) ([]sql.Param, error) {
	codes := m.ParameterFormatCodes
	if len(codes) > 1 && len(codes) != len(m.Parameters) {
		return nil, violation("bind message has %d parameter formats but %d parameters", len(codes), len(m.Parameters))
	}
	if len(m.Parameters) != want {
		return nil, violation("bind message supplies %d parameters, but prepared statement %q requires %d", len(m.Parameters), m.PreparedStatement, want)
	}
	binary, err := formatCodes(codes, len(m.Parameters))
	if err != nil {
		return nil, err
	}
	params := make([]sql.Param, len(m.Parameters))
	for i, raw := range m.Parameters {
		params[i] = sql.Param{Value: raw, Binary: binary[i]}
		if !binary[i] {
			if err := validText(string(raw)); err != nil {
				return nil, err
			}
		}
	}
	return params, nil
}

// resultFormats are the formats asked for, for each of n columns. A statement without rows ignores them.
func resultFormats(codes []int16, n int) ([]bool, error) {
	if n == 0 {
		return nil, nil
	}
	if len(codes) > 1 && len(codes) != n {
		return nil, violation("bind message has %d result formats but query has %d columns", len(codes), n)
	}
	return formatCodes(codes, n)
}

// formatCodes spreads no code (all text), one code (for all) or one code each over n values: true is binary.
func formatCodes(codes []int16, n int) ([]bool, error) {
	binary := make([]bool, n)
	for i := range binary {
		switch {
		case len(codes) == 0:
			continue
		case len(codes) == 1:
			binary[i] = codes[0] == 1
		default:
			binary[i] = codes[i] == 1
		}
	}
	for _, code := range codes {
		if code != 0 && code != 1 {
			return nil, &tailrace.Error{Code: "22023", Message: "invalid format code: must be 0 (text) or 1 (binary)"}
		}
	}
	return binary, nil
}

// describe answers with what a statement takes and returns, or what a portal returns.
func (c *conn) describe(ctx context.Context, body []byte) (err error) {
	var m pgproto3.Describe
	if err := m.Decode(body); err != nil {
		return violation("invalid message format")
	}
	var columns []tailrace.ResultColumn
	var formats []bool
	switch m.ObjectType {
	case 'S':
		p, err := c.statements.get(m.Name)
		if err != nil {
			return err
		}
		c.out.send(&pgproto3.ParameterDescription{ParameterOIDs: p.ParamOIDs})
		columns, formats = p.Columns, make([]bool, len(p.Columns))
	case 'P':
		if columns, formats, err = c.describePortal(ctx, m.Name); err != nil {
			return err
		}
	default:
		return violation("invalid DESCRIBE message subtype %d", m.ObjectType)
	}
	if columns == nil {
		c.out.send(&pgproto3.NoData{})
		return nil
	}
	c.out.send(describe(columns, formats))
	return nil
}

// describePortal is what a portal returns. A cursor that SQL declared is one too, as it is in PostgreSQL: psycopg asks so about its named cursors.
func (c *conn) describePortal(ctx context.Context, name string) (columns []tailrace.ResultColumn, binary []bool, err error) {
	o, err := c.portals.get(name)
	if err == nil {
		return o.columns, o.sending.formats, nil
	}
	columns, cursorErr := c.session.CursorColumns(ctx, name)
	var missing *tailrace.Error
	if errors.As(cursorErr, &missing) && missing.Code == "34000" {
		return nil, nil, err
	}
	return columns, make([]bool, len(columns)), cursorErr
}

// execute runs a portal, or goes on with one that a row limit has suspended.
func (c *conn) execute(ctx context.Context, body []byte) error {
	c.server.statements.Add(1)
	var m pgproto3.Execute
	if err := m.Decode(body); err != nil {
		return violation("invalid message format")
	}
	o, err := c.portals.get(m.Portal)
	if err != nil {
		return err
	}
	if o.empty {
		c.out.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	s := o.sending
	if s.res == nil {
		run := c.session.Execute
		if c.in.next() == 'S' {
			run = c.session.ExecuteLast
		}
		if s.res, err = run(ctx, o.bound); err != nil {
			return err
		}
		s.settings = c.session.Format()
	} else if o.done && o.columns == nil {
		return &tailrace.Error{Code: "55000", Message: "portal \"" + m.Portal + "\" cannot be run"}
	}
	if o.done {
		return c.complete(ctx, s, 0)
	}
	sent, ended, err := c.deliver(ctx, s, int64(min(m.MaxRows, 1<<31-1)))
	if err != nil {
		return err
	}
	if !ended {
		c.out.send(&pgproto3.PortalSuspended{})
		return nil
	}
	o.done = true
	return c.complete(ctx, s, sent)
}

// close drops a statement or a portal; one that does not exist is fine.
func (c *conn) close(body []byte) error {
	var m pgproto3.Close
	if err := m.Decode(body); err != nil {
		return violation("invalid message format")
	}
	switch m.ObjectType {
	case 'S':
		c.statements.drop(m.Name)
	case 'P':
		c.portals.drop(m.Name)
	default:
		return violation("invalid CLOSE message subtype %d", m.ObjectType)
	}
	c.out.send(&pgproto3.CloseComplete{})
	return nil
}

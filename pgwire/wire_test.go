package pgwire_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// wire is a client that shows every message.
type wire struct {
	t      *testing.T
	nc     net.Conn
	front  *pgproto3.Frontend
	addr   string
	pid    uint32
	secret []byte
}

func dial(t *testing.T, addr string) *wire {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, nc: nc, front: pgproto3.NewFrontend(nc, nc), addr: addr}
}

// startup logs in without a password and returns the answers.
func (w *wire) startup(params ...string) []string {
	w.t.Helper()
	m := &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{}}
	for i := 0; i < len(params); i += 2 {
		m.Parameters[params[i]] = params[i+1]
	}
	w.front.Send(m)
	w.flush()
	return w.untilReady()
}

func (w *wire) flush() {
	w.t.Helper()
	if err := w.front.Flush(); err != nil {
		w.t.Fatal(err)
	}
}

// receive returns the next message as a line, "" for those that differ between servers.
func (w *wire) receive() string {
	w.t.Helper()
	m, err := w.front.Receive()
	if err != nil {
		w.t.Fatalf("receive: %v", err)
	}
	if k, ok := m.(*pgproto3.BackendKeyData); ok {
		w.pid, w.secret = k.ProcessID, append([]byte(nil), k.SecretKey...)
	}
	return show(m)
}

// until returns the answers up to the first that begins with prefix.
func (w *wire) until(prefix string) []string {
	w.t.Helper()
	var out []string
	for {
		line := w.receive()
		out = append(out, line)
		if strings.HasPrefix(line, prefix) {
			return out
		}
	}
}

func (w *wire) untilReady() []string {
	w.t.Helper()
	return w.until("ReadyForQuery")
}

// cancel sends a cancel request for this connection and waits until the server took it.
func (w *wire) cancel() {
	w.t.Helper()
	other := dial(w.t, w.addr)
	other.front.Send(&pgproto3.CancelRequest{ProcessID: w.pid, SecretKey: w.secret})
	other.flush()
	_, _ = other.nc.Read(make([]byte, 1)) // the server closes the connection when it has passed the request on
}

// send writes one message given as a line: its name, then its fields, strings quoted.
//
//	Query "SELECT 1"
//	Parse "name" "SELECT $1" 23
//	Bind "portal" "name" params "1" NULL x0000 formats 0 1 results 1
//	Describe S "name"   Execute "portal" 0   Close P "portal"   Sync   Flush
//	CopyData "1\n"   CopyDone   CopyFail "why"
func (w *wire) send(line string) {
	w.t.Helper()
	f := fields(w.t, line)
	str := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	switch f[0] {
	case "Query":
		w.front.Send(&pgproto3.Query{String: str(1)})
	case "Parse":
		m := &pgproto3.Parse{Name: str(1), Query: str(2)}
		for _, oid := range f[3:] {
			m.ParameterOIDs = append(m.ParameterOIDs, uint32(w.number(oid)))
		}
		w.front.Send(m)
	case "Bind":
		w.front.Send(w.bind(f))
	case "Describe":
		w.front.Send(&pgproto3.Describe{ObjectType: str(1)[0], Name: str(2)})
	case "Execute":
		w.front.Send(&pgproto3.Execute{Portal: str(1), MaxRows: uint32(w.number(str(2)))})
	case "Close":
		w.front.Send(&pgproto3.Close{ObjectType: str(1)[0], Name: str(2)})
	case "Sync":
		w.front.Send(&pgproto3.Sync{})
	case "Flush":
		w.front.Send(&pgproto3.Flush{})
	case "CopyData":
		w.front.Send(&pgproto3.CopyData{Data: []byte(str(1))})
	case "CopyDone":
		w.front.Send(&pgproto3.CopyDone{})
	case "CopyFail":
		w.front.Send(&pgproto3.CopyFail{Message: str(1)})
	default:
		w.t.Fatalf("unknown message %q", line)
	}
}

func (w *wire) bind(f []string) *pgproto3.Bind {
	m := &pgproto3.Bind{DestinationPortal: f[1], PreparedStatement: f[2]}
	part := ""
	for _, v := range f[3:] {
		switch {
		case v == "params" || v == "formats" || v == "results":
			part = v
		case part == "formats":
			m.ParameterFormatCodes = append(m.ParameterFormatCodes, int16(w.number(v)))
		case part == "results":
			m.ResultFormatCodes = append(m.ResultFormatCodes, int16(w.number(v)))
		case v == "NULL":
			m.Parameters = append(m.Parameters, nil)
		case strings.HasPrefix(v, "0x"):
			raw, err := hex.DecodeString(v[2:])
			if err != nil {
				w.t.Fatal(err)
			}
			m.Parameters = append(m.Parameters, raw)
		default:
			m.Parameters = append(m.Parameters, []byte(v))
		}
	}
	return m
}

func (w *wire) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// fields splits a line at blanks; quoted ones are Go strings.
func fields(t *testing.T, line string) (out []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			text, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
			out, line = append(out, text), line[len(quoted):]
			continue
		}
		var word string
		word, line, _ = strings.Cut(line, " ")
		out = append(out, word)
	}
	return out
}

// show prints a message as a transcript has it. Fields that name the server's code, and table OIDs, are left out.
func show(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.RowDescription:
		cols := make([]string, len(m.Fields))
		for i, f := range m.Fields {
			cols[i] = fmt.Sprintf("%s oid=%d size=%d mod=%d format=%d", f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.Format)
		}
		return "RowDescription " + strings.Join(cols, " | ")
	case *pgproto3.DataRow:
		return "DataRow " + values(m.Values)
	case *pgproto3.CommandComplete:
		return "CommandComplete " + string(m.CommandTag)
	case *pgproto3.ReadyForQuery:
		return "ReadyForQuery " + string(m.TxStatus)
	case *pgproto3.ErrorResponse:
		return "ErrorResponse " + report(m)
	case *pgproto3.NoticeResponse:
		return "NoticeResponse " + report((*pgproto3.ErrorResponse)(m))
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("ParameterDescription ", m.ParameterOIDs)
	case *pgproto3.ParameterStatus:
		return "ParameterStatus " + m.Name + " " + strconv.Quote(m.Value)
	case *pgproto3.CopyInResponse:
		return fmt.Sprintf("CopyInResponse %d %v", m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprintf("CopyOutResponse %d %v", m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.CopyData:
		return "CopyData " + strconv.Quote(leading.ReplaceAllString(string(m.Data), "<time>"))
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")
}

// anyTime is a timestamp within a text.
var anyTime = regexp.MustCompile(`[0-9]{16}`)

// leading is a timestamp at the start of a line of COPY.
var leading = regexp.MustCompile(`^[0-9]{16}`)

// timestamp is what differs in each run: an mz_timestamp.
var timestamp = regexp.MustCompile(`^([0-9]{16}|\x00\x04\x00\x03\x00{4}(?s:.{8}))$`) // as text, or as a binary numeric of four digits

func values(list [][]byte) string {
	out := make([]string, len(list))
	for i, v := range list {
		switch {
		case v == nil:
			out[i] = "NULL"
		case timestamp.Match(v):
			out[i] = "<time>"
		case strings.IndexFunc(string(v), func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
			out[i] = "0x" + hex.EncodeToString(v)
		default:
			out[i] = strconv.Quote(string(v))
		}
	}
	return strings.Join(out, " ")
}

// report prints an error's fields that clients act on.
func report(e *pgproto3.ErrorResponse) string {
	if !strings.HasPrefix(e.Where, "COPY") || e.Code == "57014" {
		e.Where = "" // of PostgreSQL's own making: which portal's parameter it was, how far COPY had come when the client gave up
	}
	out := e.Severity + " " + e.Code + " " + strconv.Quote(e.Message)
	for _, f := range []struct{ name, value string }{
		{"detail", e.Detail},
		{"where", e.Where},
		{"schema", e.SchemaName},
		{"table", e.TableName},
		{"column", e.ColumnName},
		{"constraint", e.ConstraintName},
	} {
		if f.value != "" {
			out += " " + f.name + "=" + strconv.Quote(anyTime.ReplaceAllString(f.value, "<time>"))
		}
	}
	if e.Position != 0 {
		out += fmt.Sprintf(" position=%d", e.Position)
	}
	return out
}

// packet is a startup packet with code and body, as no client library sends it.
func packet(code uint32, body string) []byte {
	p := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(binary.BigEndian.AppendUint32(p, code), body...)
}

package sql

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

const (
	sinkMemory         = 256 << 20 // bytes
	minSinkMemory      = 4 << 20
	sinkConnections    = 8
	maxSinkConnections = 256
	sinkMaxLag         = 24 * time.Hour
)

func defaultSinkOptions() catalog.SinkOptions {
	return catalog.SinkOptions{Memory: sinkMemory, OnConflict: "error", MaxLag: sinkMaxLag, Connections: sinkConnections}
}

// sinkOption is an option of WITH; fixed ones are settled when the sink is made.
type sinkOption struct {
	fixed bool
	hint  string
	set   func(s *Session, sink *catalog.Sink, value string) bool // false: it is no value of the option
}

// wordOption is an option with few values.
func wordOption(set func(sink *catalog.Sink, value string), values ...string) sinkOption {
	return sinkOption{hint: "Use '" + strings.Join(values, "' or '") + "'.", set: func(_ *Session, sink *catalog.Sink, value string) bool {
		value = strings.ToLower(value)
		if !slices.Contains(values, value) {
			return false
		}
		set(sink, value)
		return true
	}}
}

// lengthOption is an option with a length of time, at least least.
func lengthOption(least time.Duration, set func(sink *catalog.Sink, d time.Duration)) sinkOption {
	return sinkOption{hint: fmt.Sprintf("Give a time such as '10 minutes', at least %s.", least), set: func(s *Session, sink *catalog.Sink, value string) bool {
		d, ok, err := s.lengthOfTime(value)
		if err != nil || !ok || d < least {
			return false
		}
		set(sink, d)
		return true
	}}
}

var sinkOptions = map[string]sinkOption{
	"memory": {hint: fmt.Sprintf("Give a size such as '256MiB', at least %dMiB.", minSinkMemory>>20), set: func(_ *Session, sink *catalog.Sink, value string) bool {
		n, ok := byteSize(value)
		sink.Memory = n
		return ok && n >= minSinkMemory
	}},
	"redo": {fixed: true, hint: "Give the address of a folder of the server: 'file:///var/lib/tailrace/redo'.", set: func(_ *Session, sink *catalog.Sink, value string) bool {
		sink.Redo = value
		return strings.HasPrefix(value, "file:///") && len(value) > len("file:///")
	}},
	"consistency":      fixedOption(wordOption(func(sink *catalog.Sink, v string) { sink.Transaction = v == "transaction" }, "row", "transaction")),
	"on conflict":      wordOption(func(sink *catalog.Sink, v string) { sink.OnConflict = v }, "error", "overwrite", "verify"),
	"on error":         wordOption(func(sink *catalog.Sink, v string) { sink.DeadLetter = v == "dead letter" }, "pause", "dead letter"),
	"max lag":          lengthOption(time.Second, func(sink *catalog.Sink, d time.Duration) { sink.MaxLag = d }),
	"sync point every": lengthOption(time.Second, func(sink *catalog.Sink, d time.Duration) { sink.SyncEvery = d }),
	"connections": {hint: fmt.Sprintf("Give a number from 1 to %d.", maxSinkConnections), set: func(_ *Session, sink *catalog.Sink, value string) bool {
		n, err := strconv.Atoi(value)
		sink.Connections = n
		return err == nil && n >= 1 && n <= maxSinkConnections
	}},
	"start": {fixed: true, hint: "Use START = 'snapshot' or START AS OF time.", set: func(s *Session, sink *catalog.Sink, value string) bool {
		if strings.EqualFold(value, "snapshot") {
			return true
		}
		text, ok := strings.CutPrefix(value, "as of ")
		if !ok {
			return false
		}
		sink.Start, ok = s.timeOf(tailrace.TypeOf(tailrace.KindText), expr.Value{Raw: []byte(text)})
		return ok
	}},
}

func fixedOption(o sinkOption) sinkOption {
	o.fixed = true
	return o
}

// setSinkOptions sets what WITH or SET lists.
func (s *Session) setSinkOptions(sink *catalog.Sink, with map[string]string, later bool) error {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		o, known := sinkOptions[name]
		switch {
		case !known:
			return &tailrace.Error{
				Code: "22023", Message: fmt.Sprintf("option \"%s\" of a sink is not known", name),
				Hint: "Known are " + strings.ToUpper(strings.Join(slices.Sorted(maps.Keys(sinkOptions)), ", ")) + ".",
			}
		case later && o.fixed:
			return &tailrace.Error{Code: "55000", Message: fmt.Sprintf("option \"%s\" is settled when a sink is created", name), Hint: "DROP SINK and create it again."}
		case !o.set(s, sink, with[name]):
			return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("'%s' is no value of option \"%s\"", strings.TrimPrefix(with[name], "as of "), name), Hint: o.hint}
		}
	}
	return nil
}

// byteSize reads '64MiB', '64MB', or a number of bytes.
func byteSize(text string) (int64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, unit := range []struct {
		names []string
		bytes int64
	}{{[]string{"kib", "kb"}, 1 << 10}, {[]string{"mib", "mb"}, 1 << 20}, {[]string{"gib", "gb"}, 1 << 30}, {[]string{"b"}, 1}} {
		for _, name := range unit.names {
			if digits, ok := strings.CutSuffix(text, name); ok {
				n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
				return n * unit.bytes, err == nil && n >= 0 && n <= 1<<40/unit.bytes
			}
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

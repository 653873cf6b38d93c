package server

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/catalog"
	"tailrace/changefeed"
	"tailrace/format"
	"tailrace/ingest"
	"tailrace/mysql"
	"tailrace/postgres"
	"tailrace/system"
)

// OpenTarget returns the adapter for a target of changefeeds, of the kind mysql or postgres, at an address. It does not connect.
func OpenTarget(kind, url, password string) (tailrace.Sink, error) {
	plain := format.Default() // what the adapters' connections are set to
	o := tailrace.SinkOptions{
		Password: password,
		Text: func(dst []byte, t tailrace.Type, c *tailrace.Column, i int) []byte {
			return format.AppendText(dst, t, c, i, plain)
		},
		Parse: func(c *tailrace.Column, t tailrace.Type, text string) error {
			return format.ParseText(c, t, text, plain)
		},
	}
	switch kind {
	case "mysql":
		return mysql.OpenSink(url, o)
	case "postgres":
		return postgres.OpenSink(url, o)
	}
	return nil, &tailrace.Error{Code: "0A000", Message: fmt.Sprintf("targets of kind %q are not supported", kind), Hint: "Use mysql or postgres."}
}

// newFeeds returns what runs the sinks of the catalog.
func (n *node) newFeeds() *changefeed.Feeds {
	o := changefeed.Options{
		Log: n.log, Catalog: n.catalog, Shards: n.shards, Tail: n.tail, Logger: n.options.Logger, Open: OpenTarget, Secret: ingest.ResolveSecret,
	}
	if n.folder != nil {
		o.Environment = n.folder.format.Environment
	}
	if open := n.options.OpenTarget; open != nil {
		o.Open = open
	}
	return changefeed.New(o)
}

// sinks shows the feeds to sql.
type sinks struct {
	feeds *changefeed.Feeds
}

// Wake implements sql.Sinks.
func (s *sinks) Wake() { s.feeds.Wake() }

// Check implements sql.Sinks.
func (s *sinks) Check(kind, url string) error { return s.feeds.Check(kind, url) }

// Forget implements sql.Sinks.
func (s *sinks) Forget(ctx context.Context, sink catalog.ID) error { return s.feeds.Forget(ctx, sink) }

// Status implements sql.Sinks.
func (s *sinks) Status() []system.Sink { return s.feeds.Status() }

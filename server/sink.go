package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tailrace"
	"tailrace/catalog"
	"tailrace/changefeed"
	"tailrace/file"
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

// openLocation opens a folder of this machine as a store, made if need be.
func openLocation(location string) (tailrace.Blob, error) {
	path, ok := strings.CutPrefix(location, "file://")
	if !ok || !filepath.IsAbs(path) {
		return nil, &tailrace.Error{Code: "0A000", Message: fmt.Sprintf("%q is no location of a redo log", location), Hint: "Write it as file:///var/lib/tailrace/redo."}
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fileError("make the folder of the redo log", err)
	}
	return file.Open(path, file.Options{})
}

// newFeeds returns what runs the sinks of the catalog.
func (n *node) newFeeds() *changefeed.Feeds {
	o := changefeed.Options{
		Log: n.log, Catalog: n.catalog, Shards: n.shards, Tail: n.tail, Logger: n.options.Logger, Open: OpenTarget, Secret: ingest.ResolveSecret, Blob: openLocation,
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
func (s *sinks) Forget(ctx context.Context, sink *catalog.Sink) error {
	return s.feeds.Forget(ctx, sink)
}

// Status implements sql.Sinks.
func (s *sinks) Status() []system.Sink { return s.feeds.Status() }

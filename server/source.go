package server

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/ingest"
	"tailrace/postgres"
	"tailrace/sql"
)

// openSource returns the adapter for a source. It does not connect.
func (n *node) openSource(c ingest.Config) (tailrace.Source, error) {
	if open := n.stores.OpenSource; open != nil {
		return open(c)
	}
	if c.Kind != "postgres" {
		return nil, &tailrace.Error{
			Code: "0A000", Message: fmt.Sprintf("sources of kind %q are not supported", c.Kind), Hint: "This version follows PostgreSQL only.",
		}
	}
	config, err := postgres.FromOptions(c.Options)
	if err != nil {
		return nil, err
	}
	plain := format.Default() // what the adapter's connections are set to
	config.Parse = func(col *tailrace.Column, t tailrace.Type, text string) error {
		return format.ParseText(col, t, text, plain)
	}
	config.Logger = n.options.Logger
	return postgres.New(config), nil
}

// sources shows ingest to sql.
type sources struct {
	ingest  *ingest.Ingest
	catalog *catalog.Fold
}

// Wake implements sql.Sources.
func (s *sources) Wake() { s.ingest.Wake() }

// DropUpstream implements sql.Sources.
func (s *sources) DropUpstream(ctx context.Context, source catalog.ID) error {
	return s.ingest.DropUpstream(ctx, s.catalog.Current(), source)
}

// Status implements sql.Sources: a row for each source, followed by one for each of its tables.
func (s *sources) Status() []sql.SourceStatus {
	var out []sql.SourceStatus
	for _, src := range s.ingest.Status() {
		out = append(out, sql.SourceStatus{
			Source: src.Source, State: src.State, Reason: src.Reason, Hint: src.Hint, LagBytes: src.LagBytes, Position: src.Position,
		})
		for _, t := range src.Tables {
			out = append(out, sql.SourceStatus{
				Source: src.Source, Table: t.ID, State: string(t.State), Reason: t.Reason, Hint: t.Hint,
				RowsDone: t.Rows, RowsEstimate: t.Estimate, LagBytes: src.LagBytes, Position: src.Position,
			})
		}
	}
	return out
}

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"tailrace/pgwire"
)

// live is what may change while a node runs. It is immutable; a reload makes another.
type live struct {
	drain      time.Duration
	tls        *tls.Config // nil: no certificate
	requireTLS bool
}

// newLive reads the certificate that o names.
func newLive(o Options) (*live, error) {
	l := &live{drain: o.Drain, requireTLS: o.RequireTLS}
	switch {
	case o.TLSCert == "" && o.TLSKey == "" && !o.RequireTLS:
		return l, nil
	case o.TLSCert == "" || o.TLSKey == "":
		return nil, errors.New("TLS needs both a certificate and its key: give --tls-cert FILE and --tls-key FILE")
	}
	cert, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("read TLS certificate %s with key %s: %w", o.TLSCert, o.TLSKey, err)
	}
	if cert.Leaf, err = x509.ParseCertificate(cert.Certificate[0]); err != nil {
		return nil, fmt.Errorf("read TLS certificate %s: %w", o.TLSCert, err)
	}
	l.tls = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	return l, nil
}

// reloads takes options that are read again while the node runs, until ctx is done. Options that are wrong change nothing.
func (n *node) reloads(ctx context.Context, pg *pgwire.Server) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case o := <-n.options.Reload:
			l, err := newLive(o)
			if err != nil {
				n.options.Logger.Error("reload: nothing changes", "error", err)
				continue
			}
			n.live.Store(l)
			pg.SetMaxConnections(o.MaxConnections)
			n.options.Logger.Info("reloaded", "drain", l.drain, "max_connections", o.MaxConnections, "tls", l.tls != nil, "require_tls", l.requireTLS)
			for _, fixed := range n.fixed(o) {
				n.options.Logger.Warn("this change needs a restart", "option", fixed)
			}
		}
	}
}

// fixed names the options that differ in o and cannot change while the node runs.
func (n *node) fixed(o Options) []string {
	was := n.options
	var names []string
	for _, option := range []struct {
		name    string
		differs bool
	}{
		{"data", o.Data != was.Data},
		{"listen", o.Listen != was.Listen},
		{"http", o.HTTP != was.HTTP},
		{"files", o.Files != was.Files},
		{"query-memory", o.withDefaults().QueryMemory != was.QueryMemory},
		{"subscribe-spill-bytes", o.SubscribeSpill != was.SubscribeSpill},
	} {
		if option.differs {
			names = append(names, option.name)
		}
	}
	return names
}

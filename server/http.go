package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// clockTolerance is how far the wall clock may be from the log's before the node says that it is not ready.
const clockTolerance = 10 * time.Second

// handler answers health checks and scrapes.
//
//	GET /livez    200 while the process works
//	GET /readyz   200 while clients are welcome; 503 and the reason when it drains or its clock has jumped
//	GET /metrics  Prometheus text
func (n *node) handler(e *edges) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{node: n, edges: e}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := n.unready(e); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

// unready says why clients should not come, "" when they may.
func (n *node) unready(e *edges) string {
	if e.draining.Load() {
		return "draining: the server was told to stop"
	}
	if jump := n.log.ClockJump(); jump.Abs() > clockTolerance {
		return fmt.Sprintf("the wall clock is %s from the log's time: set the clock right, commits go on at the log's own pace meanwhile", jump)
	}
	return ""
}

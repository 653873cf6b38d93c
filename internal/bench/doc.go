// Package bench measures whole servers from the outside, as their clients see them, and prints what it found.
//
// A workload is one function that runs against a Target, a PostgreSQL-speaking server: Tailrace started by the benchmark on a fresh
// folder, and a PostgreSQL given by URL. Both sides do the same statements in turns (ours, theirs, ours, theirs, ...), so that a noisy machine troubles
// both; medians and their ratio are reported.
//
// Two of them also look inside. Lookup calls shard in this process, and Load runs the stages of a COPY one by one: what one stage costs cannot be seen
// from the outside. Load's other peer, a DuckDB, is this binary started once more (package duck), so that neither memory nor CPU time is shared.
//
//	file ─▶ COPY ─▶ server              copies      wall, CPU, bytes on disk, beside DuckDB and PostgreSQL
//	file ─▶ parse ─▶ order ─▶ encode    stages      each alone, and the whole path, on one core and on all
//	batches ─▶ encode, six ways         identical   SHA-256 of the parts must not tell who worked
//
// A Report holds every value of every round. What is derived from them (a worst shape, a goal that is met or not) is derived from the medians that it prints, and
// kept figures are in bench/results.
package bench

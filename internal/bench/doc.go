// Package bench measures whole servers from the outside, as their clients see them, and prints what it found.
//
// A workload is one function that runs against a Target, a PostgreSQL-speaking server: Tailrace started by the benchmark on a fresh
// folder, and a PostgreSQL given by URL. Both sides do the same statements in turns (ours, theirs, ours, theirs, ...), so that a noisy machine troubles
// both; medians and their ratio are reported.
//
// The package measures; it does not judge. Goals are in the issues and kept figures in bench/results.
package bench

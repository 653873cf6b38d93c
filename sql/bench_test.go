package sql

import (
	"fmt"
	"testing"
)

// The benchmarks measure statements from text to result over stores in memory: what a session costs beside the disk.

func BenchmarkInsert(b *testing.B) {
	c := newWorld(b).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		c.must(fmt.Sprintf("INSERT INTO t VALUES (%d, 'some text')", n))
	}
}

func BenchmarkUpdateByKey(b *testing.B) {
	c := newWorld(b).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
	b.ReportAllocs()
	for b.Loop() {
		c.must("UPDATE t SET n = n + 1 WHERE a = 1")
	}
}

func BenchmarkSelectByKey(b *testing.B) {
	c := newWorld(b).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
	b.ReportAllocs()
	for b.Loop() {
		c.must("SELECT n FROM t WHERE a = 1")
	}
}

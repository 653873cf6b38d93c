package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestTypesAreGuessedFromAllValues(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"1 2 -3", "bigint"},
		{"1 2.5", "numeric"},
		{"1 2.5 1e10", "double precision"},
		{"01 2", "text"},
		{"9223372036854775808", "numeric"},
		{"t f true", "boolean"},
		{"t 1", "text"},
		{"2020-02-29 2021-01-01", "date"},
		{"2020-02-30", "text"},
		{"2020-02-29 2021-01-01T10:00", "timestamp without time zone"},
		{"2021-01-01T10:00:00.5Z 2021-01-01T10:00+02", "timestamp with time zone"},
		{"2021-01-01T10:00Z 2021-01-01", "text"},
		{"00000000-0000-0000-0000-00000000000A", "uuid"},
		{"01/02/2003", "text"},
		{"", "text"},
	} {
		if got := columnType(strings.Fields(c.values)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.values, got, c.want)
		}
	}
}

func TestColumnsAreGuessedFromCSV(t *testing.T) {
	got, err := guessCSV([]byte("id;\"a;b\";\n1;x;\n2;\"y\nz\";\n3;\"cut of"), ';', "", true)
	if err != nil || fmt.Sprint(got) != "[{id bigint} {a;b text} { text}]" {
		t.Errorf("got %v, %v", got, err)
	}
	got, err = guessCSV([]byte("1,NA\n2,2.5\n"), ',', "NA", false)
	if err != nil || fmt.Sprint(got) != "[{column1 bigint} {column2 numeric}]" {
		t.Errorf("without a header: got %v, %v", got, err)
	}
	if got := createTable("t", []column{{"id", "bigint"}, {"Order", "text"}, {"select", "text"}}); got != "CREATE TABLE t (\n  id bigint,\n  \"Order\" text,\n  \"select\" text\n)" {
		t.Errorf("got %s", got)
	}
}

func TestNamesOfTables(t *testing.T) {
	for name, want := range map[string]bool{
		"t": true, "shop.orders": true, `"Odd Name"`: true, `s."a""b"`: true, "été": true,
		"": false, "t; DROP TABLE t": false, "a.b.c": false, "1t": false, `"`: false, `a"b`: false, "t t": false, "t--": false,
	} {
		if got := tableName.MatchString(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

func TestFormsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"a.csv": "csv ", "a.CSV.gz": "csv .gz", "b.tsv.zst": "text .zst", "c.parquet": "parquet ", "d.bin": "binary ", "e": " ", "f.gz": " .gz", "-": " ",
	} {
		form, compression := formOf(name)
		if got := form + " " + compression; got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

package ingest_test

import (
	"tailrace"
	"tailrace/format"
)

// fixed is what connections to sources pin.
var fixed = format.Default()

func parse(c *tailrace.Column, t tailrace.Type, text string) error {
	return format.ParseText(c, t, text, fixed)
}

func print(t tailrace.Type, c *tailrace.Column, i int) string {
	return string(format.AppendText(nil, t, c, i, fixed))
}

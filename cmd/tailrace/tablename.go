package main

import "regexp"

// tableName is a table's name as SQL has it, with or without a schema: what can be written into a statement as it is.
var tableName = regexp.MustCompile(`^` + namePart + `(\.` + namePart + `)?$`)

const namePart = `([\pL_][\pL\pN_$]*|"([^"\x00]|"")+")`

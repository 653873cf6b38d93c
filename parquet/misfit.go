package parquet

import "errors"

// misfit is a value that the type of its column in the file cannot hold: the column has to be text, or for a zero below zero, which dictionaries take for 0, there
// must be none of these.
type misfit struct {
	column int    // of those given to Write
	what   string // the column holds
	zero   bool
}

func (m *misfit) Error() string { return "a column holds " + m.what }

// inColumn completes a misfit with its column; any other error stays as it is.
func inColumn(err error, column int) error {
	var m *misfit
	if !errors.As(err, &m) {
		return err
	}
	full := *m
	full.column = column
	return &full
}

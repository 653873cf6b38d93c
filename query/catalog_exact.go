package query

import (
	"slices"
)

// exactEntries are the tables of functions that are less often called, or long to do.
var exactEntries = slices.Concat(powerEntries, integerEntries, trigonometryEntries, encodingEntries, quoteEntries, regexpEntries, formatEntries, hashEntries, calendarEntries, numberEntries)

// exactHelpers are the Go functions that exactEntries and the planner name in their SQL.
var exactHelpers = slices.Concat(packedEntries, fractionEntries, matchesHelpers, joinEntries)

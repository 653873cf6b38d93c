package shard

import (
	"fmt"

	"tailrace"
)

// CompactedError is an ErrCompacted that says how far back can be read.
type CompactedError struct {
	Collection tailrace.CollectionID
	Oldest     tailrace.Time // the oldest readable time
	Time       tailrace.Time // that was asked for
}

func (e *CompactedError) Error() string {
	return fmt.Sprintf("time %d of collection %d: the oldest readable time is %d: %s", e.Time, e.Collection, e.Oldest, ErrCompacted)
}

// Is tells that the error is ErrCompacted.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

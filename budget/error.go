package budget

import (
	"fmt"

	"tailrace"
)

// Full is what a user is told when a share has no more: 53200, with why in the detail and what to do in the hint.
func (s *Share) Full(why string) *tailrace.Error {
	return &tailrace.Error{
		Code: "53200", Message: "out of memory",
		Detail: fmt.Sprintf("%s, and this node's memory for %s is %s, all statements together.", why, s.name, Format(s.limit)),
		Hint:   s.advice + "See mz_internal.mz_memory, or give the node more: tailrace serve --memory BYTES.",
	}
}

// Format is a number of bytes as people write it: 48 MiB.
func Format(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

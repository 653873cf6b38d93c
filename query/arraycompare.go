package query

import (
	"tailrace"
)

// comparedTypes is the type that values of types l and r are compared as; ok is false when there is no such operator. Arrays compare with arrays
// of the same elements, enums with their own kind.
func comparedTypes(l, r tailrace.Type) (t tailrace.Type, ok bool) {
	switch {
	case l.Kind == kRow || r.Kind == kRow:
		return unknown, false
	case !compound(l) && !compound(r):
		k := comparedAs(l.Kind, r.Kind)
		return tailrace.TypeOf(k), k != kUnknown
	case l.Kind == kUnknown:
		return plainType(r), true
	case r.Kind == kUnknown || sameType(l, r):
		return plainType(l), true
	}
	return unknown, false
}

// becomesType reports whether a value of type from may stand where type to is wanted.
func becomesType(from, to tailrace.Type) bool {
	if from.Kind != kUnknown && (from.Kind == kEnum || from.Elem == kEnum || to.Kind == kEnum || to.Elem == kEnum) {
		return sameType(from, to)
	}
	return becomes(kindOf(from), kindOf(to))
}

// comparisonOf is what PostgreSQL misses when it cannot compare two elements.
func comparisonOf(operator string) string {
	if operator == "=" || operator == "<>" {
		return "an equality operator"
	}
	return "a comparison function"
}

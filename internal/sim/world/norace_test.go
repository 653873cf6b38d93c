//go:build !race

package world

// raced tells that the race detector decides who runs next, too.
const raced = false

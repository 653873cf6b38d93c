// Package conform holds one suite for each seam of the root package. Every adapter runs it against the real thing, and the memory
// stores of sim run it too, so that what is learnt of one store is asked of all.
//
//	conform.Blob(t, func(t *testing.T) conform.Opened[tailrace.Blob] { ... })
//
// What one adapter once got wrong becomes a case here.
package conform

// Package sim holds the stores that tests put under the real code: a world that fails in the ways real ones do, by a seed.
//
// Nothing between our own packages is ever mocked. What is fake is the bottom, the two seams where bytes leave the process:
//
//	Blob, Consensus                  in memory, with an explicit line between what is written and what is synced, and a power cut
//	FaultyBlob, FaultyConsensus      around any store: calls that are lost, done but not answered, done late, slow, or cut half way
//	Remote, Serve                    stores in memory that several processes of one test share
//	GatedBlob, GatedConsensus        between one node and stores that several share: a node that is stopped, and wakes up later
//
// A write to a store goes through three states, and a crash may fall between any two:
//
//	written ──▶ synced ──▶ acknowledged
//	   lost at       kept at        kept at
//	   a power cut   a power cut    a power cut: what a client was told is true
//
// PowerCut gives the store that a restarted machine would find: all that was synced, and of what was only written a part that the seed
// chooses. A store with LazySync set acknowledges before it syncs, which is the bug that tests of durability must catch.
//
// The sub-package conform holds the suites that every Blob and every Consensus passes, these and the real ones.
//
// The package is for tests. It makes no promise of speed, and keeps all it is given in memory.
package sim

// Package pebble keeps a tailrace.Consensus in an embedded pebble store: the default when one process owns its folder.
//
// Every value is one pebble key, the Consensus key's name, a zero byte, and the SeqNo in big-endian order, so that a history is a
// range in order and the head its last key:
//
//	log 00 00 00 00 00 00 00 00 01   the first entry
//	log 00 00 00 00 00 00 00 00 02   the second, the head
//
// CompareAndSet costs one fsync. Its callers take turns per key, so that comparing, writing and syncing are one step to everybody
// else; the head it compares with is kept in memory. Readers never see a value that is not yet synced: what they have seen, no crash
// takes back.
//
// Pebble cannot live on a full disk: a write to its own log that fails ends the process, and a flush that fails is tried for ever. So
// CompareAndSet looks at the free space first and refuses with tailrace.ErrFull while there is less than MinFree.
//
// The package does not lock the folder against a second process that is ours (the server does, for all of the data folder), and knows
// nothing of what the values mean.
package pebble

// Package tailrace holds the words that every room of the project speaks and the seams between it and the world.
//
// A collection is a multiset of rows that changes over time. It is known by its updates:
//
//	time  row          diff
//	100   (1, 'ann')   +1      insert
//	250   (1, 'ann')   -1      an UPDATE is the old row out
//	250   (1, 'anna')  +1      and the new row in, at one time
//
// The rows at time t are the sum of all updates at or before t. Updates travel in a Batch, by column: a Column is a validity bitmap, offsets
// and bytes. A Schema says what the columns are; columns are known by ID, so a rename changes nothing and old batches stay readable.
// AppendKey gives values an order as bytes, the one order that rows are sorted, merged, cut and streamed in.
//
// The seams are the only interfaces: Blob and Consensus (where bytes are kept), Source (where updates come from).
//
// The package imports the standard library only, does no I/O and starts no goroutine.
package tailrace

// Package stripe turns sorted updates into the bytes of a part and back: the columnar format of everything that is at rest.
//
// A part is one immutable object. It holds stripes of up to 131,072 updates; a stripe holds a chunk for each column, time and diff first; a chunk
// holds a page for each 8,192 rows. Rows are cut at the same places in every column, so that a page group is the same rows in all of them, and
// row -> group is a division:
//
//	header | stripe 0                                        | stripe 1 ... | filters | page indexes | footer | tail
//	         time     diff     id       name
//	group 0  page 0   page 0   page 0   page 0, 1 (wide)
//	group 1  page 1   page 1   page 1   page 2
//
// A page is compressed by knowing what it holds. Integers that lie near one another are kept as small differences to the least, bit-packed;
// those that climb, as differences between neighbours; floats that were decimals, as those; texts that repeat, as codes of a dictionary that the chunk
// begins with; others by symbols that stand for what is frequent in them; numerics, as integers with a scale. Encodings lie within one another up to three deep, and
// a general compressor goes around what is left, where it pays. So 8,192 prices of numeric(12,2) below 100,000.00 are
//
//	page header | DECIMAL | CONST scale 2 | FOR 8 vectors of 24 bits        24.6 kB for 8,192 values that take 42 kB as stored bytes
//
// How a chunk is encoded is decided once, from samples at fixed places: that is the verdict. A page is then a function of the verdict and its own
// rows, which makes it a task that any goroutine may do:
//
//	Take ─▶ cut a stripe ─▶ a decide task for each chunk ─▶ a task for each page ─▶ collect in order ─▶ emit ─▶ Part
//
// Four things hold for every part:
//
//   - The bytes are a function of the schema, the options and the updates. How updates were cut into batches, what was encoded before, and by how many
//     goroutines, do not show. Equal data has an equal hash.
//   - A task that fails costs time, not the stripe: its chunk is encoded once more by the goroutine that uses the Writer.
//   - Every byte that a read relies on is covered by a checksum that the read checks. A damaged page fails only reads of its column and group.
//   - Bytes are hostile. Counts and lengths are checked before they are used, and no allocation is larger than the limits in limits.go.
//
// A Writer takes batches in sort order and emits stripes; a Part puts stripes together. A Reader holds the footer and reads groups: Read for one, Scan for
// many, SeekGroup to find where a key begins, Bounds and MayHold to pass over groups and stripes by their values, Stripe to take a stripe out as it is stored. None
// does I/O: a part is bytes, and a Reader is given a Fetch.
//
// What it does not do: sort, merge, name or keep parts, know what a key means, or run goroutines; the flight that a Writer is given has those.
// docs/format/part.md describes the format to the byte.
package stripe

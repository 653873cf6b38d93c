// Package fsst compresses short texts that have little to do with one another but are made of the same pieces: names, addresses, URLs, log
// lines. It is FSST, after Boncz, Neumann and Leis, "FSST: Fast Random Access String Compression", VLDB 2020.
//
// A Table has up to 255 symbols, each a piece of 1 to 8 bytes that is frequent in the texts. A text is coded by replacing, from left to right,
// the longest symbol that fits by its number, one byte. Where no symbol fits, the code 255 (the escape) says that the next byte stands for itself:
//
//	symbols  0 "http://www."[:8] = "http://w"   1 "ww."   2 "example"   3 ".org"   4 "/"
//	text     http://www.example.org/x
//	coded    0 1 2 3 4 255 'x'                                        7 bytes for 24
//
// What a code means depends on no byte before it. So coded texts may be laid end to end and are still coded texts; one can be decoded without
// the others; and decoding is a table lookup, a store of 8 bytes and a step of the symbol's length for each code, with hardly a branch. A general
// compressor such as zstd also finds what repeats within a text and knows which bytes are frequent; it comes out smaller where texts are
// long. The two go together: what FSST leaves can be given to zstd, which then has half as much to do.
//
// # Words
//
// 255 symbols do not hold the vocabulary of sentences: comments, notes, product names. So a table may also have words, up to 14,336 of them. This is not in
// the paper. A word is any byte and the up to 15 letters that follow it, " river" or "/river"; it has a code of two bytes, the first of which is one of the
// last codes below the escape, each of which leads 256 words. Words are counted in a larger part of the texts than symbols, since most are rare, and the table
// has those that save more than they take in it. Symbols are then trained on what words leave. Where words are is found first, for thousands of bytes at a time;
// then symbols code what lies between, and do not reach into a word:
//
//	text     by the millers' harbour,
//	coded    "by"  " the" are frequent: symbols, 1 byte each    " millers"  a word, 2 bytes    "'"  1    " harbour"  2    ","  1
//
// Sentences over a vocabulary of 12,000 words take 0.36 of their size so, where symbols alone take 0.51.
//
// # How symbols are found
//
// Which 255 pieces are best depends on which others are there, since each takes away places of the others. Train begins with an empty table and
// improves it in rounds: it codes a sample with the table, counts how often each symbol was used and each two stood side by side, and makes
// the next table of the best of them: symbols, and symbols joined with what follows. A candidate's gain is how often it came up times its
// length. As a piece can double in a round, 3 rounds could find symbols of 8 bytes; 5 settle them.
//
// Train is a function of the sample alone: ties are broken by the symbols' bytes, and nothing is random. Equal samples give equal tables, tables give
// equal codes.
//
// # How symbols are looked up
//
// The encoder holds for any two bytes the code of the symbol of one or two bytes that fits there, and a hash table of the longer symbols by their
// first three bytes, one to a slot: of two symbols that fall on a slot the table has only the better. So there is one candidate of three or
// more bytes at a place of the text; it is compared, under a mask, with the next 8 bytes. A step is two lookups and a conditional move. The
// steps of one text wait for one another, so the encoder works at four places of the text at once (see encode.go).
//
// It does not choose the sample, know lengths of texts, or decide whether a table pays: that is for whoever stores the texts.
package fsst

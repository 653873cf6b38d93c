// Package file keeps a tailrace.Blob in a directory: one file a value, the key its path below the directory.
//
// A value appears whole and durable, or not at all:
//
//  1. write it aside, in the folder TMP, and fsync the file
//  2. link it to its name: the link is refused when the name exists, which makes it a put-if-absent
//  3. fsync the folder that holds the name, and only then answer
//  4. remove the name in TMP
//
// After a crash between 1 and 2 the value is not there and TMP holds litter, which Open sweeps. Between 2 and 3 it may be there or
// not: the caller was not answered, so both are right, and the same bytes can be put again.
//
// A key cannot leave the directory: its names are of [a-z0-9-_.], neither "." nor "..", and never TMP, which is written in capitals. A key
// cannot also be the folder of another: with s/1 there, s/1/x is refused.
//
// The package does not cache, checksum or compress. One process at a time may use a directory; the server locks the data folder.
package file

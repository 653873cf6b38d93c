package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"tailrace"
)

// The forms of data that `tailrace load` takes.
const (
	formText    = "text"
	formCSV     = "csv"
	formBinary  = "binary"
	formParquet = "parquet"
)

// formOf is the form that a file's name tells, without what it is compressed with, and whether it is compressed; "" when it tells none.
func formOf(name string) (form, compression string) {
	ext := strings.ToLower(filepath.Ext(name))
	if ext == ".gz" || ext == ".zst" {
		compression = ext
		ext = strings.ToLower(filepath.Ext(strings.TrimSuffix(name, filepath.Ext(name))))
	}
	return map[string]string{
		".csv": formCSV, ".txt": formText, ".text": formText, ".tsv": formText, ".copy": formText, ".bin": formBinary, ".binary": formBinary, ".pgcopy": formBinary,
		".parquet": formParquet, ".pq": formParquet,
	}[ext], compression
}

// input is a file, or stdin, that is read from its beginning to its end.
type input struct {
	name string
	file *os.File
	size int64           // bytes of the file as it is stored; 0: not known
	read atomic.Int64    // of these
	ctx  context.Context //nolint:containedctx // io.Reader has none

	data  io.Reader // what is stored, decompressed
	close func()    // of the decompressor; nil: none
	head  []byte    // read ahead of data
}

// openInput opens what name says; "-" is stdin.
func openInput(ctx context.Context, name, compression string) (*input, error) {
	in := &input{name: name, file: os.Stdin, ctx: ctx}
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in.file = f
	}
	st, err := in.file.Stat()
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, fmt.Errorf("%s is a folder: name a file", name)
	case st.Mode().IsRegular():
		in.size = st.Size()
	}
	stored := readerFunc(in.stored)
	switch compression {
	case ".gz":
		z, err := gzip.NewReader(stored)
		if err != nil {
			return nil, fmt.Errorf("decompress %s: %w", name, err)
		}
		in.data = z
	case ".zst":
		z, err := zstd.NewReader(stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxZstdWindow))
		if err != nil {
			return nil, fmt.Errorf("decompress %s: %w", name, err)
		}
		in.data, in.close = z, z.Close
	default:
		in.data = stored
	}
	return in, nil
}

// maxZstdWindow is the memory, in bytes, that a compressed file may demand to be read: what zstd --long=27 asks for, and its blocks.
const maxZstdWindow = 256 << 20

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readableEvery is how often a read that waits for input looks whether it was cancelled, in milliseconds.
const readableEvery = 100

// stored reads the file as it is. A read that waits, of a pipe or a terminal, ends with the context.
func (in *input) stored(p []byte) (int, error) {
	for {
		if err := in.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(in.file.Fd()), Events: unix.POLLIN}}, readableEvery)
		if n > 0 || err != nil && err != unix.EINTR {
			break
		}
	}
	n, err := in.file.Read(p)
	in.read.Add(int64(n))
	return n, err
}

// Read implements io.Reader: what was peeked at, then the rest.
func (in *input) Read(p []byte) (int, error) {
	if len(in.head) > 0 {
		n := copy(p, in.head)
		in.head = in.head[n:]
		return n, nil
	}
	n, err := in.data.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && in.ctx.Err() == nil {
		err = fmt.Errorf("read %s: %w", in.name, err)
	}
	return n, err
}

// peek is the first n bytes, fewer when there are no more; they are read again by Read.
func (in *input) peek(n int) ([]byte, error) {
	head := make([]byte, n)
	got, err := io.ReadFull(in.data, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read %s: %w", in.name, err)
	}
	in.head = head[:got]
	return in.head, nil
}

// Close closes the file.
func (in *input) Close() error {
	if in.close != nil {
		in.close()
	}
	return in.file.Close()
}

// wholeLines is data up to the end of its last whole line; all of it when it is all there is.
func wholeLines(data []byte, all bool) []byte {
	if all {
		return data
	}
	return data[:bytes.LastIndexByte(data, '\n')+1]
}

// errForm asks for a form that the name does not tell.
func errForm(name string) error {
	return &tailrace.Error{
		Code: "22023", Message: fmt.Sprintf("the name of %s does not tell what is in it", name),
		Hint: "Say it: --format csv, text, binary or parquet. Names that tell end with .csv, .txt, .tsv, .bin, .parquet, and .gz or .zst after that.",
	}
}

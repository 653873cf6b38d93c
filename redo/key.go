package redo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tailrace"
)

// Keys of a feed, with numbers as 16 hex digits so that their order as text is theirs:
//
//	redo/<feed>/manifest/<number>
//	redo/<feed>/segment/<epoch>-<nonce>-<count>
//	redo/<feed>/page/<epoch>-<nonce>-<count>
const (
	root         = "redo/"
	manifestRoom = "manifest/"
	segmentRoom  = "segment/"
	pageRoom     = "page/"
)

// folder is what all keys of a feed begin with. Bytes of its name that a key cannot have are written as a dot and two hex digits.
func folder(feed string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, c := range []byte(feed) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, ".%02x", c)
		}
	}
	b.WriteByte('/')
	return b.String()
}

// feedOf is the name that folder wrote as text, and false for what it does not write.
func feedOf(text string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '.' {
			b.WriteByte(text[i])
			continue
		}
		c, err := strconv.ParseUint(text[i+1:min(i+3, len(text))], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), folder(b.String()) == root+text+"/"
}

// Feeds lists the names of the feeds that blob has a redo log of.
func Feeds(ctx context.Context, blob tailrace.Blob) ([]string, error) {
	var feeds []string
	for key, err := range blob.List(ctx, root) {
		if err != nil {
			return nil, err
		}
		text, rest, _ := strings.Cut(strings.TrimPrefix(key, root), "/")
		feed, ok := feedOf(text)
		if ok && strings.HasPrefix(rest, manifestRoom) && !slices.Contains(feeds, feed) {
			feeds = append(feeds, feed)
		}
	}
	return feeds, nil
}

func manifestKey(folder string, number uint64) string {
	return fmt.Sprintf("%s%s%016x", folder, manifestRoom, number)
}

// objectName is the name of a segment or a page: no other writer has it.
func objectName(epoch, nonce, count uint64) string {
	return fmt.Sprintf("%016x-%016x-%08x", epoch, nonce, count)
}

// errNoName is the error of a key that is none of ours.
var errNoName = errors.New("not a key of a redo log")

// writerOf is the writer that gave a segment or a page its name.
func writerOf(name string) (epoch, nonce uint64, err error) {
	var count uint64
	if n, err := fmt.Sscanf(name, "%016x-%016x-%08x", &epoch, &nonce, &count); err != nil || n != 3 || objectName(epoch, nonce, count) != name {
		return 0, 0, fmt.Errorf("%s: %w", name, errNoName)
	}
	return epoch, nonce, nil
}

// manifests lists the numbers of the feed's manifests, in order.
func manifests(ctx context.Context, blob tailrace.Blob, folder string) ([]uint64, error) {
	var numbers []uint64
	for key, err := range blob.List(ctx, folder+manifestRoom) {
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(key, folder+manifestRoom), 16, 64)
		if err != nil || manifestKey(folder, n) != key {
			return nil, fmt.Errorf("%s: %w: %w", key, errNoName, tailrace.ErrCorrupt)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

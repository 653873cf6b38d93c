package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// List implements tailrace.Blob. It reads one folder at a time, and not those that cannot hold the prefix.
func (b *Blob) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := b.walk(ctx, "", prefix, func(key string) bool { return yield(key, nil) })
		if err != nil && !errors.Is(err, errEnough) {
			yield("", fmt.Errorf("list %q: %w", prefix, err))
		}
	}
}

// errEnough ends a walk whose caller wants no more.
var errEnough = errors.New("enough")

// walk visits the keys below folder, a key prefix that is empty or ends with a slash, in byte order. A folder stands in that order
// where its name and a slash do: a-b before a/c.
func (b *Blob) walk(ctx context.Context, folder, prefix string, visit func(key string) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, filepath.FromSlash(folder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a folder may go while we walk
		return err
	}
	keys := make([]string, 0, len(entries))
	for _, e := range entries {
		switch {
		case folder == "" && e.Name() == aside:
		case e.IsDir():
			keys = append(keys, folder+e.Name()+"/")
		default:
			keys = append(keys, folder+e.Name())
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		switch {
		case strings.HasSuffix(key, "/") && (strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)):
			if err := b.walk(ctx, key, prefix, visit); err != nil {
				return err
			}
		case !strings.HasSuffix(key, "/") && strings.HasPrefix(key, prefix):
			if !visit(key) {
				return errEnough
			}
		}
	}
	return nil
}

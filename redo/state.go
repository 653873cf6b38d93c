package redo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tailrace"
)

// state is what the manifests of a feed say together: a base, and those after it.
type state struct {
	number, epoch, nonce uint64 // of the newest manifest
	base                 uint64
	spans                map[tailrace.CollectionID]Position
	segments
	openings []uint64
}

// apply adds what a manifest says that follows.
func (s *state) apply(m *manifest) {
	if m.base == m.number {
		*s = state{spans: map[tailrace.CollectionID]Position{}}
	}
	s.number, s.epoch, s.nonce, s.base = m.number, m.epoch, m.nonce, m.base
	maps.Copy(s.spans, m.spans)
	s.loose = append(s.loose, m.loose...)
	s.pages = append(s.pages, m.pages...)
	s.openings = append(s.openings, m.openings...)
	if m.opening {
		s.openings = append(s.openings, m.number)
	}
}

// readTries bounds how often a reader begins again because a writer has folded manifests meanwhile.
const readTries = 8

// errMissing is the error of a manifest that is named and not there.
var errMissing = errors.New("a manifest is missing")

// readState reads the newest state, a zero one when there is none. A damaged or missing object is an error that names it and wraps tailrace.ErrCorrupt.
func readState(ctx context.Context, blob tailrace.Blob, folder string) (*state, error) {
	var err error
	for range readTries {
		var numbers []uint64
		if numbers, err = manifests(ctx, blob, folder); err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			return &state{spans: map[tailrace.CollectionID]Position{}}, nil
		}
		var s *state
		if s, err = fold(ctx, blob, folder, numbers[len(numbers)-1]); !errors.Is(err, errMissing) {
			return s, err
		}
	}
	return nil, err
}

// fold reads the manifest of number and those it builds on.
func fold(ctx context.Context, blob tailrace.Blob, folder string, number uint64) (*state, error) {
	newest, err := readManifest(ctx, blob, folder, number)
	if err != nil {
		return nil, err
	}
	s := &state{spans: map[tailrace.CollectionID]Position{}}
	for n := newest.base; n < number; n++ {
		m, err := readManifest(ctx, blob, folder, n)
		if err != nil {
			return nil, err
		}
		if m.base != newest.base {
			return nil, fmt.Errorf("%s: its base is %d, that of %d is %d: %w", manifestKey(folder, n), m.base, number, newest.base, tailrace.ErrCorrupt)
		}
		s.apply(m)
	}
	s.apply(newest)
	return s, nil
}

func readManifest(ctx context.Context, blob tailrace.Blob, folder string, number uint64) (*manifest, error) {
	key := manifestKey(folder, number)
	raw, err := blob.Get(ctx, key, 0, -1)
	if errors.Is(err, tailrace.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w: %w", key, errMissing, tailrace.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(raw)
	if err == nil && m.number != number {
		err = fmt.Errorf("it says number %d: %w", m.number, tailrace.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return m, nil
}

// all are all segments in order, those of pages read from the store.
func (s *segments) all(ctx context.Context, blob tailrace.Blob, folder string) ([]segment, error) {
	var out []segment
	for _, p := range s.pages {
		list, err := p.read(ctx, blob, folder)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return append(out, s.loose...), nil
}

func (p *page) read(ctx context.Context, blob tailrace.Blob, folder string) ([]segment, error) {
	key := folder + pageRoom + p.name
	raw, err := blob.Get(ctx, key, 0, -1)
	if errors.Is(err, tailrace.ErrNotFound) {
		err = fmt.Errorf("it is missing: %w", tailrace.ErrCorrupt)
	} else if err != nil {
		return nil, err
	}
	var list []segment
	if err == nil {
		list, err = decodePage(raw)
	}
	if err == nil && len(list) != p.segments {
		err = fmt.Errorf("it has %d segments, the base says %d: %w", len(list), p.segments, tailrace.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return list, nil
}

// folded is s as a base of the given number.
func (s *state) folded(number uint64) *manifest {
	return &manifest{
		number: number, epoch: s.epoch, nonce: s.nonce, base: number, spans: maps.Clone(s.spans),
		segments: segments{slices.Clone(s.loose), slices.Clone(s.pages)}, openings: slices.Clone(s.openings),
	}
}

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// formatName is the file in a data folder that says which format the folder has. A folder without one was written before there was such a file.
const formatName = "FORMAT"

// The format of a data folder that this build writes. A new minor adds what older builds of the major may pass over; what they must not pass over is a
// name in Required as well.
const (
	formatMajor = 1
	formatMinor = 1
)

// featureSinks in Required says that the catalog may have sinks, which builds before 1.1 take for damage.
const featureSinks = "sinks"

// known are the features that this build knows.
var known = []string{featureSinks}

// featureUnfinished in Required says that a restore into the folder was cut off: nobody may open it.
const featureUnfinished = "unfinished-restore"

// maxFormat bounds the file, in bytes.
const maxFormat = 64 << 10

// Format says what a program must know to open a data folder or a backup. The zero Format is that of a folder from before there was one.
type Format struct {
	Major       int      `json:"major"`
	Minor       int      `json:"minor"`
	Required    []string `json:"required,omitempty"` // features without which the folder must not be opened
	Environment string   `json:"environment"`        // 16 hex digits that a folder keeps for its life; a restored one gets its own
	WrittenBy   string   `json:"written_by"`         // the version of the program that opened it last
}

// check refuses what this build does not know. where names the folder.
func (f *Format) check(where string) error {
	writer := f.WrittenBy
	if writer == "" {
		writer = "an unknown version"
	}
	if slices.Contains(f.Required, featureUnfinished) {
		return fmt.Errorf("%s holds a restore that was cut off: delete the folder and run tailrace restore again", where)
	}
	if f.Major > formatMajor {
		return fmt.Errorf("%s has format %d.%d, written by tailrace %s; this build reads formats up to %d.x: use that version or a later one",
			where, f.Major, f.Minor, writer, formatMajor)
	}
	if missing := slices.DeleteFunc(slices.Clone(f.Required), func(name string) bool { return slices.Contains(known, name) }); len(missing) > 0 {
		return fmt.Errorf("%s was written by tailrace %s and needs what this build does not know: %s: use that version or a later one",
			where, writer, strings.Join(missing, ", "))
	}
	return nil
}

// readFormat reads the FORMAT of a folder; the zero Format when it has none.
func readFormat(dir string) (Format, error) {
	var f Format
	path := filepath.Join(dir, formatName)
	err := readJSON(path, maxFormat, &f)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && (f.Major < 1 || f.Minor < 0) {
		err = fmt.Errorf("read %s: it says format %d.%d: restore the folder from a backup", path, f.Major, f.Minor)
	}
	return f, err
}

// sign writes that this build, a version, has opened the folder, unless FORMAT says so. A folder from before there were FORMATs becomes one of this format.
func (f *folder) sign(version string) error {
	signed := f.format
	signed.Major, signed.Minor, signed.WrittenBy = formatMajor, max(formatMinor, signed.Minor), version
	if !slices.Contains(signed.Required, featureSinks) {
		signed.Required = append(slices.Clone(signed.Required), featureSinks)
	}
	if signed.Environment == "" {
		signed.Environment = sessionName()
	}
	if f.format.Major == signed.Major && f.format.Minor == signed.Minor && slices.Equal(f.format.Required, signed.Required) && f.format.Environment == signed.Environment && f.format.WrittenBy == version {
		return nil
	}
	if err := writeJSON(f.path(formatName), &signed); err != nil {
		return err
	}
	f.format = signed
	return nil
}

// readJSON reads a file of at most limit bytes.
func readJSON(path string, limit int64, into any) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Size() > limit {
		return fmt.Errorf("read %s: %d bytes, at most %d belong there", path, st.Size(), limit)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: it is damaged: %w", path, err)
	}
	return nil
}

// writeJSON replaces the file path in one step, durably.
func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = replaceFile(path, append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// replaceFile writes the file aside, syncs it, and gives it its name.
func replaceFile(path string, raw []byte) error {
	aside := path + ".new"
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(aside, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

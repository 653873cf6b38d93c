package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// BeforeResolve reads the file that --config or TAILRACE_CONFIG names.
func (c *ServeCmd) BeforeResolve(parsed *kong.Context) error {
	flags := map[string]*kong.Flag{}
	for _, f := range parsed.Selected().Flags {
		flags[f.Name] = f
	}
	path, _ := parsed.FlagValue(flags["config"]).(string)
	if path == "" {
		return nil
	}
	values, err := readConfig(path)
	if err != nil {
		return err
	}
	delete(flags, "config")
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if flags[key] == nil {
			return fmt.Errorf("config %s: unknown key %q: the keys are %s", path, key, strings.Join(slices.Sorted(maps.Keys(flags)), ", "))
		}
	}
	parsed.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		for _, name := range f.Envs {
			if _, ok := os.LookupEnv(name); ok {
				return nil, nil // the environment wins
			}
		}
		if v, ok := values[f.Name]; ok {
			return v, nil
		}
		return nil, nil
	}))
	return nil
}

// readConfig reads a flat TOML file: what each key says, as a flag would have it.
func readConfig(path string) (map[string]string, error) {
	var raw map[string]any
	if _, err := toml.DecodeFile(path, &raw); err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	values := map[string]string{}
	for key, v := range raw {
		switch v := v.(type) {
		case string:
			values[key] = v
		case int64, bool, float64:
			values[key] = fmt.Sprint(v)
		default:
			return nil, fmt.Errorf("config %s: %s must be a string or a number: the file has no sections and no lists", path, key)
		}
	}
	return values, nil
}

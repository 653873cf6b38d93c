package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// parse is `tailrace args...` up to the command.
func parse(t *testing.T, args ...string) (*cli, error) {
	t.Helper()
	var c cli
	parser, err := kong.New(&c, kong.Exit(func(int) { t.Fatal("kong wants to exit") }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return &c, err
}

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tailrace.toml")
	text := "data = \"/from/file\"\nlisten = \"127.0.0.1:1\"\nhttp = \"127.0.0.1:2\"\ndrain = \"3s\"\nmax-connections = 7\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TAILRACE_LISTEN", "127.0.0.1:20")
	t.Setenv("TAILRACE_HTTP", "127.0.0.1:30")
	t.Setenv("TAILRACE_CONFIG", file)
	c, err := parse(t, "serve", "--listen", "127.0.0.1:300")
	if err != nil {
		t.Fatal(err)
	}
	got := c.Serve
	if got.Listen != "127.0.0.1:300" || got.HTTP != "127.0.0.1:30" || got.Data != "/from/file" || got.Drain != 3*time.Second || got.MaxConnections != 7 {
		t.Errorf("got %+v, want listen from the flag, http from the environment, the rest from the file", got)
	}
	c, err = parse(t, "serve", "--config", file)
	if err != nil || c.Serve.Data != "/from/file" {
		t.Errorf("--config: got %+v, %v", c.Serve, err)
	}
}

func TestBadConfigNamesTheKey(t *testing.T) {
	for text, want := range map[string]string{
		"lisen = \"x\"":        "unknown key \"lisen\"",
		"[section]\na = 1":     "section must be a string or a number",
		"listen = ":            "tailrace.toml",
		"config = \"a\"":       "unknown key \"config\"",
		"drain = \"sometime\"": "drain",
	} {
		file := filepath.Join(t.TempDir(), "tailrace.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := parse(t, "serve", "--data", "d", "--config", file)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := parse(t, "serve", "--data", "d", "--config", "/nosuch/file"); err == nil {
		t.Error("a file that is not there: got no error")
	}
}

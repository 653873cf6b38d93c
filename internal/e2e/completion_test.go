package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// typed is psql at a terminal: script(1) gives it one, and what is written to keys is typed.
type typed struct {
	t      testing.TB
	cmd    *exec.Cmd
	keys   io.WriteCloser
	shown  chan []byte
	screen string // since the last command
}

func typeInto(t testing.TB, url string) *typed {
	t.Helper()
	p := &typed{t: t, cmd: exec.Command("script", "-q", "-c", "psql -X '"+url+"'", "/dev/null"), shown: make(chan []byte, 64)}
	p.cmd.Env = append(os.Environ(), "TERM=dumb", "PAGER=cat", "INPUTRC=/dev/null", "LC_ALL=C.UTF-8", "PSQL_HISTORY=/dev/null")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.keys, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.shown)
		for {
			buf := make([]byte, 4096)
			n, err := out.Read(buf)
			if err != nil {
				return
			}
			p.shown <- buf[:n]
		}
	}()
	t.Cleanup(func() {
		p.keys.Close()
		p.cmd.Process.Kill()
		for range p.shown {
		}
		p.cmd.Wait()
	})
	return p
}

// wait reads the screen until it shows want.
func (p *typed) wait(want string) {
	p.t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for !strings.Contains(p.screen, want) {
		select {
		case b, ok := <-p.shown:
			if !ok {
				p.t.Fatalf("psql ended; it showed %q, want %q", p.screen, want)
			}
			p.screen += strings.ReplaceAll(string(b), "\a", "") // the bell says that there are others
		case <-late.C:
			p.t.Fatalf("psql shows %q, want %q", p.screen, want)
		}
	}
}

// completions are beginnings of statements with a tab, and what psql makes of them.
var completions = []struct{ keys, want string }{
	{"SELECT * FROM sto\t", "FROM stock "},
	{"SELECT * FROM depot.\t", "FROM depot.shelf "},
	{"SELECT * FROM dep\t", "FROM depot."},
	{"UPDATE stock SET pri\t", "SET price "},
	{"INSERT INTO mo\t", "INTO moves "},
	{"ALTER TABLE pla\t", "TABLE plain "},
	{"DROP VIEW ch\t", "VIEW cheap "},
	{"DROP TYPE col\t", "TYPE color "},
	{"DROP DOMAIN pos\t", "DOMAIN positive "},
	{"DROP SCHEMA dep\t", "SCHEMA depot "},
	{"COPY stoc\t", "COPY stock "},
	{"SET DateS\t", "datestyle "},
	{"SHOW TimeZ\t", "timezone"},
	{"\\d stoc\t", "\\d stock"},
	{"\\dv chea\t", "\\dv cheap "},
	{"\\dn dep\t", "\\dn depot "},
	{"\\dT colo\t", "\\dT color "},
	{"\\du test\t", "\\du tester "},
	{"\\sv chea\t", "\\sv cheap "},
	{"\\c postg\t", "\\c postgres "},
	{"TABLE plai\t", "TABLE plain "},
}

// TestPsqlCompletes types the beginning of statements and a tab, here and in PostgreSQL, and waits for psql to go on with the names that are there.
func TestPsqlCompletes(t *testing.T) {
	ours, theirs := psqlSetup(t)
	for prompt, url := range map[string]string{"postgres=": ours.asTester(), "psql=": theirs} {
		p := typeInto(t, url)
		p.wait(prompt)
		for _, c := range completions {
			p.screen = ""
			p.press(c.keys)
			p.wait(c.want)
			p.screen = ""
			p.press("\x03") // Ctrl-C: a new line
			p.wait(prompt)
		}
	}
}

// press types.
func (p *typed) press(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, keys); err != nil {
		p.t.Fatal(err)
	}
}

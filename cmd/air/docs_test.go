package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

var update = flag.Bool("update", false, "write docs/cli.md and docs/tools.md anew")

func TestReferenceOfCommandsIsTrue(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Command line\n\nGenerated: `go test ./cmd/air -run Reference -update` writes it.\n\n" +
		"Results go to stdout, everything else to stderr. An error is a line `error:` and mostly a line `hint:`; with\n" +
		"`-o json` it is an object on stdout. Without a terminal nothing prompts and nothing animates.\n\n" +
		"| exit code | meaning |\n| --- | --- |\n" +
		"| 0 | done; also when a command that a tool ran failed: that is data |\n" +
		"| 1 | every other error, and a check that found something |\n" +
		"| 2 | usage, configuration, `invalid_input` |\n" +
		"| 3 | `permission_denied`, `approval_required`; a guest that failed because a call of its own was refused is `guest_error` (1), with the refusal as `details.cause` |\n" +
		"| 4 | `cancelled` |\n| 5 | `timeout` |\n")
	describe(&b, (&app{}).root())
	isGenerated(t, "cli.md", b.Bytes())
}

// isGenerated holds a document against what it is generated from, or writes it anew.
func isGenerated(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join(repository(t), "docs", name)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/%s is not what it is generated from: run go test ./cmd/air -run Reference -update", name)
	}
}

// describe writes a command and those below it.
func describe(b *bytes.Buffer, c *cobra.Command) {
	if c.Runnable() && !c.Hidden && c.Name() != "help" {
		fmt.Fprintf(b, "\n## %s\n\n    %s\n\n%s\n", c.CommandPath(), c.UseLine(), about(c))
		if c.Example != "" {
			fmt.Fprintf(b, "\nExamples:\n\n%s\n", indent(c.Example))
		}
		flags(b, c)
	}
	for _, child := range c.Commands() {
		if !child.Hidden {
			describe(b, child)
		}
	}
}

func about(c *cobra.Command) string {
	if c.Long == "" || c.Parent() != nil && c.Parent().Name() == "completion" {
		return c.Short + "."
	}
	return strings.TrimSpace(c.Long)
}

func indent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = "    " + strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

func flags(b *bytes.Buffer, c *cobra.Command) {
	set := c.LocalFlags()
	rows := 0
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("\n| flag | meaning |\n| --- | --- |\n")
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(f.Usage, "|", "or"))
	})
}

// TestReferenceOfTheABIIsTrue holds docs/abi.md against the table of host functions
// and the limits.
func TestReferenceOfTheABIIsTrue(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository(t), "docs", "abi.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range hostabi.Functions(hostabi.AirV1) {
		if f.Module != hostabi.Module {
			continue
		}
		signature := regexp.MustCompile("`" + f.Name + `\(([^)]*)\)` + "`").FindSubmatch(page)
		if signature == nil {
			t.Errorf("docs/abi.md does not name %s", f.Name)
		} else if n := len(strings.Split(string(signature[1]), ",")); n != len(f.Params) {
			t.Errorf("docs/abi.md gives %s %d parameters, it has %d", f.Name, n, len(f.Params))
		}
	}
	normal := runtime.Limits{}.WithDefaults()
	for name, want := range map[string]string{
		"memory_bytes": size(normal.MemoryBytes), "input_bytes": size(normal.InputBytes), "output_bytes": size(normal.OutputBytes),
		"log_bytes": size(normal.LogBytes), "timeout_ms": normal.Timeout().String()[:2] + " s", "host_calls": "1,000",
		"call_depth": fmt.Sprint(normal.CallDepth), "concurrent_calls": fmt.Sprint(normal.ConcurrentCalls),
	} {
		if !regexp.MustCompile("`" + name + "` +\\| " + want + " +\\|").Match(page) {
			t.Errorf("docs/abi.md does not give %s as %s", name, want)
		}
	}
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// TestCommandsInDocuments runs every command that the documents show, in order, in one
// shell, each in a folder of its own. A command that has to fail says so behind it.
func TestCommandsInDocuments(t *testing.T) {
	inProject := []string{"mkdir project && cd project", "air init"}
	for _, document := range []struct {
		path   string
		before []string
	}{{"README.md", nil}, {"docs/guide.md", nil}, {"docs/permissions.md", inProject}, {"docs/commands.md", inProject}, {"docs/trust.md", nil}} {
		t.Run(document.path, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join(repository(t), document.path))
			if err != nil {
				t.Fatal(err)
			}
			runAll(t, append(document.before, commands(string(page))...))
		})
	}
}

var shown = regexp.MustCompile(`(?m)^    (([A-Z_]+=\w+ )?(air|mkdir|cd) .*)$`)

func commands(page string) []string {
	var all []string
	for _, match := range shown.FindAllStringSubmatch(page, -1) {
		all = append(all, match[1])
	}
	return all
}

func runAll(t *testing.T, commands []string) {
	work := t.TempDir()
	bin := filepath.Join(t.TempDir(), "bin")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	wrapper := fmt.Sprintf("#!/bin/sh\nAIR_TEST_MAIN=1 exec %q \"$@\"\n", self)
	if err := os.WriteFile(filepath.Join(bin, "air"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", script(t, commands))
	c.Dir = work
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "AIR_HOME="+t.TempDir())
	c.WaitDelay = 20 * time.Second // the registry that the script ends holds its output
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

var expected = regexp.MustCompile(`\s+# exit (\d)$`)

// script is the commands as one script that stops at the first surprise.
func script(t *testing.T, commands []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("trap 'jobs -p | xargs -r kill' EXIT\n")
	address := freeAddress(t)
	sandboxed := sandbox.CommandTier(t.Context()).Held
	for _, line := range commands {
		if !sandboxed && strings.HasPrefix(line, "air call shell.run") { // it would be asked about
			continue
		}
		want := "0"
		if m := expected.FindStringSubmatch(line); m != nil {
			want, line = m[1], strings.TrimSuffix(line, m[0])
		}
		line = strings.ReplaceAll(line, "127.0.0.1:5000", address)
		if strings.HasSuffix(line, " &") {
			fmt.Fprintf(&b, "%s\nfor i in $(seq 100); do (: < /dev/tcp/%s) 2>/dev/null && break; sleep 0.05; done\n", line, strings.Replace(address, ":", "/", 1))
			continue
		}
		fmt.Fprintf(&b, "%s </dev/null\ncode=$?\nif [ $code != %s ]; then echo \"exit $code instead of %s: \"%q; exit 1; fi\n", line, want, want, line)
	}
	return b.String()
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestReferenceOfCodesIsTrue holds docs/permissions.md against the table of codes.
func TestReferenceOfCodesIsTrue(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository(t), "docs", "permissions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ = bytes.Cut(page, []byte("## Codes"))
	codes := permission.Codes()
	for _, c := range codes {
		if row := fmt.Sprintf("| `%s` | %s | %s |\n", c.Code, c.Verdict, c.Meaning); !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/permissions.md has no row %s", row)
		}
	}
	if rows := regexp.MustCompile("(?m)^\\| `").FindAll(page, -1); len(rows) != len(codes) {
		t.Errorf("docs/permissions.md has %d codes, there are %d", len(rows), len(codes))
	}
}

package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// repo is a repository that git works on during one call.
type repo struct {
	access   *runtime.Access
	commands runtime.Commands // with what was decided meanwhile
	at       runtime.Repository
	dir      string   // where git is started
	settings []string // names and values that stand above all configuration
}

// open finds the repository of a folder whose reading was decided, and what git has to be
// told so that it executes nothing that is configured there.
func open(ctx context.Context, access *runtime.Access, commands runtime.Commands, dir string) (*repo, error) {
	scoped := *access
	scoped.Commands = commands
	found, err := scoped.Repository(dir)
	if err != nil {
		return nil, err
	}
	r := &repo{access: access, at: found, dir: dir}
	if r.commands, err = commands.Decide(ctx, []permission.Effect{reads(found.Top)}); err != nil {
		return nil, err
	}
	return r, r.disarm(ctx)
}

// call is one run of git.
type call struct {
	args  []string
	top   bool // start in the top folder, not where the input says
	write bool // to the repository's own folder
	files bool // change files, as far as that was decided
	whole bool // see runtime.Launch
	stdin string
	limit int // of the output, in bytes; 0 is smallOutput
	// script, where it is set, is run by the shell with args as its parameters, in the same
	// environment. It is constant: nothing of an input is in it.
	script string
}

const (
	smallOutput = 1 << 20
	largeOutput = 64 << 20
	maxStderr   = 16 << 10
)

// answer is what git wrote, and how it ended.
type answer struct {
	out    []byte
	stderr string
	code   int
}

// must runs git and takes it for an error when it does not end with 0.
func (r *repo) must(ctx context.Context, c call) ([]byte, error) {
	a, err := r.run(ctx, c)
	if err == nil && a.code != 0 {
		err = a.failure(c)
	}
	return a.out, err
}

// failure is what git said of an error.
func (a answer) failure(c call) error {
	said := text.Line(strings.TrimSpace(a.stderr), 500)
	if said == "" {
		said = "it said nothing"
	}
	name := "git"
	if len(c.args) > 0 && c.script == "" {
		name += " " + c.args[0]
	}
	return fault.New(fault.Unavailable, "git_failed", "%s ended with %d: %s", name, a.code, said).With("exit_code", a.code)
}

func (r *repo) run(ctx context.Context, c call) (answer, error) {
	limit := c.limit
	if limit == 0 {
		limit = smallOutput
	}
	out, said := &bounded{limit: limit}, &bounded{limit: maxStderr, cut: true}
	commands := r.commands
	if !c.files {
		commands = commands.ReadOnly()
	}
	ended, err := commands.Program(ctx, runtime.Program{
		Argv: r.argv(c), Dir: r.start(c), Env: r.environment(), Stdin: strings.NewReader(c.stdin), Stdout: out, Stderr: said,
		Repository: c.write, Whole: c.whole, Package: "git",
	})
	if out.over {
		return answer{}, fault.New(fault.ResourceExhausted, "git_output", "git wrote more than %d MiB", limit>>20)
	}
	return answer{out.content.Bytes(), said.content.String(), ended.Code}, err
}

func (r *repo) start(c call) string {
	if c.top {
		return r.at.Top
	}
	return r.dir
}

func (r *repo) argv(c call) []string {
	if c.script != "" {
		return append([]string{"sh", "-c", c.script, "sh"}, c.args...)
	}
	return append([]string{"git"}, c.args...)
}

// bounded keeps what is written up to a limit. Beyond it, it answers an error, or with cut
// drops the rest.
type bounded struct {
	content bytes.Buffer
	limit   int
	cut     bool
	over    bool
}

var errFull = errors.New("more than its limit")

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.content.Len()
	if len(p) <= room {
		return b.content.Write(p)
	}
	b.content.Write(p[:max(0, room)])
	if b.cut {
		return len(p), nil
	}
	b.over = true
	return 0, errFull
}

var _ io.Writer = (*bounded)(nil)

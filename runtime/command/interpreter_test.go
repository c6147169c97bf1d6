package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/permission"
)

// TestInterpreter runs generated scripts in the interpreter that runs commands, with
// handlers that only write down what it would do: every command is among the effects, if only
// as it is written; and so is every file, by what is done with it, where nothing is asked
// again when it runs. Else the command line was opaque.
func TestInterpreter(t *testing.T) {
	count := 3000
	if n, err := strconv.Atoi(os.Getenv("AIR_TEST_SCRIPTS")); err == nil {
		count = n
	}
	if testing.Short() {
		count = 500
	}
	seen := 0
	for seed := range count {
		if interpret(t, uint64(seed)) {
			seen++
		}
		if t.Failed() {
			return
		}
	}
	if seen < count/10 {
		t.Errorf("only %d of %d scripts are known: the test says little", seen, count)
	}
	t.Logf("%d of %d scripts are known", seen, count)
}

func interpret(t *testing.T, seed uint64) (known bool) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
	script := g.script()
	dir := t.TempDir()
	a, err := analyse(script, Place{Dir: dir, Root: dir, Home: "/home/me"})
	if err != nil {
		return false
	}
	effects := a.result(script)
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return false
	}
	if len(effects) > 0 && effects[0].Target == permission.JoinArgv([]string{"bash", "-c", script}) {
		return false
	}
	r := &recorder{choose: rand.New(rand.NewPCG(seed, 8)), names: a.line.Names(), later: a.later}
	for range 3 { // commands succeed and fail by chance
		r.run(t, file, dir)
	}
	r.check(t, script, effects)
	return true
}

// recorder writes down what a script does.
type recorder struct {
	sync.Mutex
	choose *rand.Rand
	calls  []ranCall
	opens  []opened
	funcs  map[string]bool
	count  int
	loose  map[uint]bool
	names  []uint // see Line.Names
	later  bool   // the interpreter asks about something when it comes to it
}

type ranCall struct {
	argv []string
	dir  string
}

type opened struct {
	path  string
	write bool
}

var errEnough = errors.New("enough")

func (r *recorder) run(t *testing.T, file *syntax.File, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	r.count = 0
	runner, err := interp.New(
		interp.Dir(dir), interp.Env(expand.ListEnviron("HOME=/home/me", "TMPDIR="+dir, "PATH=/nowhere")), interp.StdIO(nil, io.Discard, io.Discard),
		interp.CallHandler(r.call), interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return r.exec }),
		interp.OpenHandler(r.open), interp.ReadDirHandler2(readDir), interp.StatHandler(r.stat),
		interp.AccessHandler(func(context.Context, string, interp.AccessMode) error { return fs.ErrNotExist }),
	)
	if err != nil {
		t.Fatal(err)
	}
	r.funcs = map[string]bool{}
	r.loose = map[uint]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			r.funcs[f.Name.Value] = true
		}
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "" {
			at := c.Args[0].Pos().Offset()
			r.loose[at] = !slices.Contains(r.names, at)
		}
		return true
	})
	_ = runner.Run(ctx, file)
}

func (r *recorder) note(ctx context.Context, argv []string) {
	r.Lock()
	defer r.Unlock()
	r.calls = append(r.calls, ranCall{slices.Clone(argv), interp.HandlerCtx(ctx).Dir})
}

func (r *recorder) call(ctx context.Context, argv []string) ([]string, error) {
	if r.loose[interp.HandlerCtx(ctx).Pos.Offset()] && (r.funcs[argv[0]] || interp.IsBuiltin(argv[0])) {
		return nil, errEnough // as air's shell refuses it
	}
	if !r.funcs[argv[0]] { // a function is what its body does
		r.note(ctx, argv)
	}
	r.Lock()
	defer r.Unlock()
	if r.count++; r.count > 200 {
		return nil, errEnough
	}
	return argv, nil
}

func (r *recorder) exec(ctx context.Context, argv []string) error {
	r.note(ctx, argv)
	r.Lock()
	defer r.Unlock()
	if r.choose.IntN(2) == 0 {
		return interp.ExitStatus(1)
	}
	return nil
}

type nothing struct{ bytes.Buffer }

func (*nothing) Close() error { return nil }

func (r *recorder) open(ctx context.Context, name string, flag int, _ fs.FileMode) (io.ReadWriteCloser, error) {
	r.Lock()
	defer r.Unlock()
	if !path.IsAbs(name) {
		name = interp.HandlerCtx(ctx).Dir + "/" + name
	}
	r.opens = append(r.opens, opened{path.Clean(name), flag&(os.O_WRONLY|os.O_RDWR) != 0})
	if r.choose.IntN(4) == 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &nothing{}, nil
}

func (r *recorder) stat(context.Context, string, bool) (fs.FileInfo, error) {
	r.Lock()
	defer r.Unlock()
	if r.choose.IntN(3) == 0 {
		return nil, fs.ErrNotExist
	}
	return fs.Stat(fstest.MapFS{"d": {Mode: fs.ModeDir}}, "d")
}

func readDir(context.Context, string) ([]fs.DirEntry, error) {
	return fs.ReadDir(fstest.MapFS{"a": {}, "b": {}, "c.txt": {}, "a b": {}, "-rf": {}, "d": {Mode: fs.ModeDir}}, ".")
}

func (r *recorder) check(t *testing.T, script string, effects []permission.Effect) {
	t.Helper()
	r.Lock()
	defer r.Unlock()
	for _, c := range r.calls {
		if !slices.ContainsFunc(effects, func(e permission.Effect) bool { return e.Kind == permission.Run && covers(e.Target, c.argv) }) {
			t.Errorf("%s\nruns %q in %s, which is not among\n%v", script, c.argv, c.dir, effects)
			return
		}
		kind := worksBy[c.argv[0]]
		for _, name := range c.paths() {
			if !r.later && !slices.ContainsFunc(effects, func(e permission.Effect) bool { return reaches(e, kind, name) }) {
				t.Errorf("%s\n%q in %s has %s(%s), which is not among\n%v", script, c.argv, c.dir, kind, name, effects)
				return
			}
		}
	}
	for _, o := range r.opens {
		kind := permission.Read
		if o.write {
			kind = permission.Write
		}
		if o.path != "/dev/null" && !r.later && !slices.ContainsFunc(effects, func(e permission.Effect) bool { return e.Kind == kind && path.Clean(e.Target) == o.path }) {
			t.Errorf("%s\nopens %+v, which is not among\n%v", script, o, effects)
			return
		}
	}
}

// paths are those that some well-known programs work on.
func (c *ranCall) paths() []string {
	if worksBy[c.argv[0]] == "" {
		return nil
	}
	var all []string
	for i, w := range c.argv[1:] {
		if w == "--" {
			return append(all, c.argv[i+2:]...)
		}
		if w == "" || w[0] == '-' {
			continue
		}
		if !path.IsAbs(w) {
			w = c.dir + "/" + w
		}
		all = append(all, path.Clean(w))
	}
	return all
}

var worksBy = map[string]permission.Kind{"rm": permission.Delete, "cat": permission.Read, "touch": permission.Write}

// reaches reports whether an effect is that of its kind on the very path, or on a folder
// with all below it. A time that changes below one counts as a read.
func reaches(e permission.Effect, kind permission.Kind, name string) bool {
	target := path.Clean(e.Target)
	inside := e.Recursive && strings.HasPrefix(name, strings.TrimSuffix(target, "/")+"/")
	switch {
	case e.Kind == kind:
		return target == name || inside
	case e.Kind == permission.Read && kind == permission.Write:
		return e.Recursive && (target == name || inside)
	}
	return false
}

// covers reports whether a run effect stands for a command: word by word, but that what
// was a pattern or not known stands for any words.
func covers(target string, argv []string) bool {
	words, err := permission.SplitArgv(target)
	if err != nil {
		return false
	}
	return coversWords(words, argv)
}

func coversWords(words, argv []string) bool {
	switch {
	case len(words) == 0:
		return len(argv) == 0
	case words[0] == "[":
		return len(argv) > 0 && argv[0] == "[" && coversWords(words[1:], argv[1:])
	case strings.ContainsAny(words[0], "$`*?[{~"):
		for n := 0; n <= len(argv); n++ {
			if coversWords(words[1:], argv[n:]) {
				return true
			}
		}
		return false
	}
	return len(argv) > 0 && words[0] == argv[0] && coversWords(words[1:], argv[1:])
}

package interpret

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/permission"
)

// asked runs a command line and returns all effects that the host was asked about.
func asked(t *testing.T, text string) (effects []permission.Effect, o outcome, top string) {
	t.Helper()
	at := hunting(t)
	var mu sync.Mutex
	o = interpreted(t, at, text, func(_ context.Context, all []permission.Effect) error {
		mu.Lock()
		defer mu.Unlock()
		effects = append(effects, all...)
		return nil
	})
	return effects, o, at.Dir
}

var processID = regexp.MustCompile(`kill -0 [1-9][0-9]*`)

// TestQuestions: the host is asked with the words, files and variables that are there when
// it comes to it.
func TestQuestions(t *testing.T) {
	for text, want := range map[string][]string{
		`for f in b* c*; do cat "$f"; done`:    {"run(cat b.txt)", "read(TOP/b.txt)", "run(cat c.txt)", "read(TOP/c.txt)"},
		`X=$(echo b.txt); cat < $X > "$X.out"`: {"read(TOP/b.txt)", "write(TOP/b.txt.out)", "run(cat)"},
		`echo "$(<b.txt)"`:                     {"read(TOP/b.txt)"},
		`cd d; echo > ../new`:                  {"write(TOP/new)"},
		`ln -s d to; echo > to/new`:            {"write(TOP/d/new)"},
		`ln -s d/e to; cat < to`:               {"read(TOP/d/e)"},
		`cd d; cd ..; cat a`:                   {"read(TOP/a)"},
		`PAGER=x; export PAGER; cat a`:         {"env(PAGER)"},
		`X=$(echo y); PAGER=$X cat a`:          {"env(PAGER)"},
		`f() { local LD_PRELOAD=x; export LD_PRELOAD; cat a 2>/dev/null; }; f`: {"env(LD_PRELOAD)"},
		`unset PATH; /bin/cat a`:                   {"env(PATH)"},
		`(export LESSOPEN=x; cat a)`:               {"env(LESSOPEN)"},
		`bash -c "$(echo rm -rf keep)"`:            {"run(rm -rf keep)"},
		`timeout $(echo 5) cat "$(echo b.txt)"`:    {"run(cat b.txt)", "run(timeout 5 cat b.txt)"},
		`cat <(cat b.txt)`:                         {"run(cat b.txt)"},
		`kill -0 $$`:                               {"run(kill -0 PID)"},
		`echo a | sort > "$(echo s)" & wait`:       {"run(sort)", "write(TOP/s)"},
		`printf '%s' x; echo y; read z; test -f a`: nil,
		`echo *.txt ~ /usr/b*`:                     nil,
		`echo ../v*`:                               {"read(UP)"},
		`echo > /dev/null; cat < /dev/null`:        {"run(cat)"},
	} {
		effects, o, top := asked(t, text)
		var got []string
		for _, e := range effects {
			line := string(e.Kind) + "(" + e.Target + ")"
			got = append(got, processID.ReplaceAllString(line, "kill -0 PID"))
		}
		for _, w := range want {
			w = strings.NewReplacer("TOP", top, "UP", filepath.Dir(top)).Replace(w)
			if !slices.Contains(got, w) {
				t.Errorf("%s\nasks about %q, not about %s: %s", text, got, w, o.stderr)
			}
		}
		if want == nil && len(got) > 0 {
			t.Errorf("%s\nasks about %q", text, got)
		}
	}
}

// TestUnasked: what was decided with the whole line, and what is harmless when it comes to
// it, is not refused.
func TestUnasked(t *testing.T) {
	for _, text := range []string{
		"bash <<< 'ls; cat a'", "bash <<'E'\ncat a\nE", "X=a; bash <<E\ncat $X\nE", "timeout 5 sh <<< ls",
		"diff <(sort a) <(sort a)", "for f in *.txt; do cat \"$f\"; done", "cat \"$(ls *.txt | head -1)\"", "X=$(ls); echo $X > out.txt",
		"while read -r l; do echo \"$l\"; done < a", "trap 'echo done' EXIT; ls", "ls *; wc -l *.txt", "cd \"$(echo d)\" && cat e", "sort a | uniq -c | sort -rn",
		"X=$(echo ls); $X", "f() { cat \"$1\"; }; f $(echo a)", "find . -name '*.txt' | while read -r f; do wc -l \"$f\"; done", "echo x > /dev/stderr", "cat a & wait",
	} {
		at := hunting(t)
		j := newJudge(t, at)
		if o := interpreted(t, at, text, j.decide); o.code != 0 || o.err != nil {
			t.Errorf("%s\nends with %d, %v: %s", text, o.code, o.err, o.stderr)
		}
	}
}

// TestDescriptors: what the interpreter starts gets three streams, and cannot look into the
// interpreter.
func TestDescriptors(t *testing.T) {
	needBash(t)
	const text = "ls /proc/self/fd | wc -l; cat < a | ls /proc/self/fd | wc -l"
	_, o, _ := asked(t, text)
	if plain := underBash(t, place(t), text); o.stdout != plain.stdout { // what the test itself was started with counts for both
		t.Errorf("descriptors: %q, under bash %q, %s", o.stdout, plain.stdout, o.stderr)
	}
	if os.Getuid() == 0 {
		t.Skip("root looks into every process")
	}
	_, o, _ = asked(t, "sh -c 'ls /proc/$PPID/fd; cat /proc/$PPID/environ; echo > /proc/$PPID/fd/3'")
	if o.stdout != "" {
		t.Errorf("it shows %q", o.stdout)
	}
}

// TestRefusalEnds: nothing that runs beside holds it up.
func TestRefusalEnds(t *testing.T) {
	for _, text := range []string{"sleep 30 & cat b.txt", "sleep 30 | cat b.txt", "(cat b.txt) & sleep 30", "X=$(sleep 30; cat b.txt) & cat b.txt; wait", "while :; do :; done & cat b.txt",
		"echo $(cat b.txt); echo on", "cat < b.txt || echo on", "trap 'echo on' EXIT; cat b.txt", "true && cat b.txt; echo on", "f() { cat b.txt || echo on; }; f || echo on", "if ! cat b.txt; then echo on; fi"} {
		started := time.Now()
		o := interpreted(t, place(t), text, func(_ context.Context, all []permission.Effect) error {
			for _, e := range all {
				if strings.Contains(e.Target, "b.txt") {
					return os.ErrPermission
				}
			}
			return nil
		})
		if o.code != exitRefused || o.err == nil || strings.Contains(o.stdout, "on") || time.Since(started) > 10*time.Second {
			t.Errorf("%s\nends with %d after %v, %v: %s%s", text, o.code, time.Since(started), o.err, o.stdout, o.stderr)
		}
	}
}

// TestUnsupported: what only bash can do is named, and nothing runs.
func TestUnsupported(t *testing.T) {
	for text, want := range map[string]string{
		"echo a; exec 3> f": "descriptor 3", "echo a; coproc cat": "coprocesses", "echo a; X=set; $X -C": "set -C", "echo ${PIPESTATUS[0]}": "PIPESTATUS",
		"declare -i X=1": "declare -i", "X=$(echo umask); $X 0": "umask", "X=eval; ${X:0} ls": "eval", "X=$(echo f); f() { ls; }; $X": "function f",
	} {
		effects, o, _ := asked(t, text)
		if o.code != exitUnsupported || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "does not support") || len(effects) > 0 && strings.HasPrefix(text, "echo a; exec") {
			t.Errorf("%s\nends with %d: %s", text, o.code, o.stderr)
		}
	}
}

package interpret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// carryOut is a command of the interpreter itself.
func (s *shell) carryOut(ctx context.Context, name string, args []string) error {
	hc := interp.HandlerCtx(ctx)
	switch name {
	case "run":
		return s.exec(ctx, args)
	case "status":
		return exitWith(args[0])
	case "echo":
		return s.print(ctx, echo(args))
	case "printf":
		return s.printf(ctx, args)
	case "read":
		return s.read(ctx, args)
	case "kill":
		return s.kill(ctx, args)
	case "job":
		return s.startJob(ctx)
	case "started":
		return s.jobStarted(ctx, args[0])
	case "ended":
		return s.jobEnded(hc)
	case "typeall":
		return s.typeAll(ctx, args)
	case "begin":
		s.timing.Store(args[0], clockNow())
	case "end":
		if began, ok := s.timing.Load(args[0]); ok {
			fmt.Fprint(s.stream(hc.Stderr), clockNow().since(began.(clock)).report(args[1] == "p"))
		}
		return exitWith(strconv.Itoa(hc.LastExitStatus))
	}
	return nil
}

func exitWith(code string) error {
	n, err := strconv.Atoi(code)
	if n == 0 || err != nil {
		return nil
	}
	return interp.ExitStatus(n)
}

// print writes what a builtin prints. Who writes where nobody reads any more is ended by a
// signal, as it is under bash.
func (s *shell) print(ctx context.Context, text string) error {
	hc := interp.HandlerCtx(ctx)
	if _, err := io.WriteString(s.stream(hc.Stdout), text); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			return hc.Builtin(ctx, []string{"exit", "141"})
		}
		fmt.Fprintf(hc.Stderr, "bash: line %d: write error: %v\n", hc.Pos.Line(), reason(err))
		return interp.ExitStatus(1)
	}
	return nil
}

// echo is what echo prints.
func echo(args []string) string {
	escapes, end := false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, letter := range args[0][1:] {
			switch letter {
			case 'n':
				end = ""
			default:
				escapes = letter == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var stop bool
		if text, stop = unescaped(text, escapesOfEcho); stop {
			end = ""
		}
	}
	return text + end
}

// set gives a variable a value, in the shell that a command runs in.
func set(ctx context.Context, name, value string) error {
	quoted, err := syntax.Quote(value, syntax.LangBash)
	if err != nil {
		return fmt.Errorf("%s cannot hold this value: %w", name, err)
	}
	return interp.HandlerCtx(ctx).Builtin(ctx, []string{"eval", name + "=" + quoted})
}

// typeAll is type -a.
func (s *shell) typeAll(ctx context.Context, names []string) error {
	hc := interp.HandlerCtx(ctx)
	code := 0
	var out strings.Builder
	for _, name := range names {
		before := out.Len()
		switch {
		case syntax.IsKeyword(name):
			fmt.Fprintf(&out, "%s is a shell keyword\n", name)
		case s.funcs[name]:
			return s.unsupported("type -a of a function")
		case interp.IsBuiltin(name):
			fmt.Fprintf(&out, "%s is a shell builtin\n", name)
		}
		for folder := range strings.SplitSeq(hc.Env.Get("PATH").String(), ":") {
			file := folder + "/" + name
			if info, err := os.Stat(inFolder(hc.Dir, file)); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				fmt.Fprintf(&out, "%s is %s\n", name, file)
			}
		}
		if out.Len() == before {
			fmt.Fprintf(hc.Stderr, "bash: line %d: type: %s: not found\n", hc.Pos.Line(), name)
			code = 1
		}
	}
	if err := s.print(ctx, out.String()); err != nil || code == 0 {
		return err
	}
	return interp.ExitStatus(code)
}

// clock is a time, and what the process and its children have used up to it.
type clock struct{ real, user, system time.Duration }

func clockNow() clock {
	c := clock{real: time.Duration(time.Now().UnixNano())}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			c.user += time.Duration(u.Utime.Nano())
			c.system += time.Duration(u.Stime.Nano())
		}
	}
	return c
}

func (c clock) since(b clock) clock {
	return clock{c.real - b.real, c.user - b.user, c.system - b.system}
}

func (c clock) report(posix bool) string {
	if posix {
		return fmt.Sprintf("real %.2f\nuser %.2f\nsys %.2f\n", c.real.Seconds(), c.user.Seconds(), c.system.Seconds())
	}
	show := func(d time.Duration) string {
		return fmt.Sprintf("%dm%.3fs", int(d.Minutes()), (d % time.Minute).Seconds())
	}
	return fmt.Sprintf("\nreal\t%s\nuser\t%s\nsys\t%s\n", show(c.real), show(c.user), show(c.system))
}

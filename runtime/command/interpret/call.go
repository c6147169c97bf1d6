package interpret

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"

	"github.com/aircoding/air/internal/lazyregexp"
)

// call looks at each command before it is carried out: it refuses builtins that are not as
// those of bash, and puts in the place of others what is.
func (s *shell) call(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	name := args[0]
	if signal := s.killedBy(hc); signal != 0 && name != own+"ended" {
		return []string{"exit", strconv.Itoa(128 + int(signal))}, nil
	}
	loose := s.loose[hc.Pos.Offset()]
	if s.funcs[name] {
		if loose {
			return nil, s.unsupported("calling the function %s by a name that was not known before", name)
		}
		return args, nil
	}
	if name == "" || !interp.IsBuiltin(name) {
		return args, nil
	}
	if loose && !plainBuiltins[name] {
		return nil, s.unsupported("the builtin %s by a name that was not known before", name)
	}
	return s.builtin(hc, args)
}

// plainBuiltins change nothing in the shell.
var plainBuiltins = map[string]bool{"echo": true, "true": true, "false": true, ":": true, "pwd": true, "test": true, "[": true, "kill": true}

// carriedOut are builtins that the interpreter has its own of.
var carriedOut = map[string]bool{"echo": true, "printf": true, "read": true, "kill": true}

func (s *shell) builtin(hc interp.HandlerContext, args []string) ([]string, error) {
	switch name := args[0]; name {
	case "command", "builtin":
		return s.inner(hc, args)
	case "test", "[":
		return s.test(hc, args)
	case "cd":
		return s.cd(hc, args)
	case "set":
		return s.set(args)
	case "trap":
		return s.trap(args)
	case "type":
		return s.kind(args)
	case "exit", "return":
		return s.leave(hc, args)
	case "wait", "exec", "shopt", "pushd", "popd":
		if name == "wait" {
			args = s.wait(args)
		}
		if len(args) > 1 && strings.HasPrefix(args[1], "-") && !oneOf(name+" "+args[1], "shopt -s", "shopt -u", "shopt -o", "exec --", "pushd -n", "popd -n") {
			return nil, s.unsupported("%s %s", name, args[1])
		}
		return args, nil
	default:
		switch {
		case carriedOut[name]:
			return append([]string{own + name}, args[1:]...), nil
		case refusedBuiltins[name]:
			return nil, s.unsupported("the builtin %s", name)
		}
		return args, nil
	}
}

// refusedBuiltins are those that the interpreter lacks, and those that run text.
var refusedBuiltins = nameSet("alias bg fc fg jobs newgrp umask unalias . eval source bind caller compgen complete compopt declare typeset local export readonly " +
	"disown enable history let logout suspend ulimit times")

func nameSet(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

func oneOf(text string, all ...string) bool { return slices.Contains(all, text) }

// inner is command and builtin.
func (s *shell) inner(hc interp.HandlerContext, args []string) ([]string, error) {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0:
		return []string{"true"}, nil
	case rest[0] == "-v" && args[0] == "command":
		return append([]string{"command"}, rest...), nil
	case strings.HasPrefix(rest[0], "-"):
		return nil, s.unsupported("%s %s", args[0], rest[0])
	case interp.IsBuiltin(rest[0]):
		if s.funcs[rest[0]] { // which the interpreter would take first
			return nil, s.unsupported("%s before the name of a function", args[0])
		}
		return s.builtin(hc, rest)
	case args[0] == "builtin":
		return args, nil
	}
	return append([]string{own + "run"}, rest...), nil
}

var number = lazyregexp.New(`^\s*[-+]?[0-9]+\s*$`)

// test checks the numbers that the interpreter takes for 0 where they are none.
func (s *shell) test(hc interp.HandlerContext, args []string) ([]string, error) {
	words := args[1:]
	if args[0] == "[" && len(words) > 0 {
		words = words[:len(words)-1]
	}
	for i := 1; i < len(words)-1; i++ {
		if !oneOf(words[i], "-eq", "-ne", "-lt", "-le", "-gt", "-ge") {
			continue
		}
		for _, w := range []string{words[i-1], words[i+1]} {
			if !number.MatchString(w) {
				fmt.Fprintf(hc.Stderr, "bash: line %d: %s: %s: integer expression expected\n", hc.Pos.Line(), args[0], w)
				return status(2), nil
			}
		}
	}
	if slices.Contains(words, "<") || slices.Contains(words, ">") {
		return nil, s.unsupported("%s with < and >: [[ ]] has them", args[0])
	}
	if slices.ContainsFunc(words, func(w string) bool { return w == "-v" || w == "-R" }) && len(words) == 2 {
		return nil, s.unsupported("test -v and test -R")
	}
	return args, nil
}

// status is a command that ends with one.
func status(code int) []string { return []string{own + "status", strconv.Itoa(code)} }

// cd has no options here: -P leads where the links do.
func (s *shell) cd(hc interp.HandlerContext, args []string) ([]string, error) {
	physical, rest := false, args[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		switch rest[0] {
		case "-P":
			physical = true
		case "-L":
			physical = false
		case "--":
			return append([]string{"cd"}, rest[1:]...), nil
		default:
			return nil, s.unsupported("cd %s", rest[0])
		}
		rest = rest[1:]
	}
	if len(rest) == 1 && rest[0] == "" {
		return []string{"true"}, nil
	}
	if physical && len(rest) == 1 && rest[0] != "-" {
		if to, err := filepath.EvalSymlinks(inFolder(hc.Dir, rest[0])); err == nil {
			rest = []string{to}
		}
	}
	return append([]string{"cd"}, rest...), nil
}

// without are the options of set that change nothing here.
const without = "hmbBET"

func (s *shell) set(args []string) ([]string, error) {
	if len(args) == 1 {
		return nil, s.unsupported("set without an option")
	}
	kept := []string{"set"}
	for i := 1; i < len(args); i++ {
		a := args[i]
		if a == "--" || a == "-" || a == "" || a[0] != '-' && a[0] != '+' {
			return append(kept, args[i:]...), nil
		}
		letters := strings.Map(func(r rune) rune {
			if strings.ContainsRune(without, r) {
				return -1
			}
			return r
		}, a[1:])
		if bad := strings.Trim(letters, "aenfuxo"); bad != "" {
			return nil, s.unsupported("set %s", a)
		}
		named := strings.Count(letters, "o")
		if named > 0 && (i+1 >= len(args) || named > 1 || letters[len(letters)-1] != 'o') {
			return nil, s.unsupported("set %s", a)
		}
		if named == 1 {
			i++
			if oneOf(args[i], "hashall", "monitor", "notify", "errtrace", "functrace", "braceexpand") {
				letters = strings.TrimSuffix(letters, "o")
			} else if !oneOf(args[i], "allexport", "errexit", "noexec", "noglob", "nounset", "xtrace", "pipefail") {
				return nil, s.unsupported("set -o %s", args[i])
			}
		}
		if letters == "" {
			continue
		}
		kept = append(kept, a[:1]+letters)
		if strings.HasSuffix(letters, "o") {
			kept = append(kept, args[i])
		}
	}
	if len(kept) == 1 {
		return []string{"true"}, nil
	}
	return kept, nil
}

// trap knows the end of the shell alone. Other signals never reach it: what it is killed by
// kills all of it.
func (s *shell) trap(args []string) ([]string, error) {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) < 2 || strings.HasPrefix(rest[0], "-") && rest[0] != "-" {
		return nil, s.unsupported("trap without a signal, or with an option")
	}
	kept := []string{"trap", rest[0]}
	for _, name := range rest[1:] {
		switch strings.TrimPrefix(strings.ToUpper(name), "SIG") {
		case "EXIT", "0":
			kept = append(kept, "EXIT")
		case "INT", "TERM", "HUP", "QUIT", "2", "15", "1", "3":
		default:
			return nil, s.unsupported("trap for %s", name)
		}
	}
	if len(kept) == 2 {
		return []string{"true"}, nil
	}
	return kept, nil
}

// kind is type.
func (s *shell) kind(args []string) ([]string, error) {
	if len(args) > 1 && args[1] == "-a" {
		return append([]string{own + "typeall"}, args[2:]...), nil
	}
	if len(args) > 1 && strings.HasPrefix(args[1], "-") && !oneOf(args[1], "-t", "-p", "-P") {
		return nil, s.unsupported("type %s", args[1])
	}
	return args, nil
}

// leave is exit and return. With a word that is no number bash leaves with 2.
func (s *shell) leave(hc interp.HandlerContext, args []string) ([]string, error) {
	if len(args) == 2 && !number.MatchString(args[1]) {
		fmt.Fprintf(hc.Stderr, "bash: line %d: %s: %s: numeric argument required\n", hc.Pos.Line(), args[0], args[1])
		return []string{args[0], "2"}, nil
	}
	if len(args) == 1 && args[0] == "return" {
		return []string{"return", strconv.Itoa(hc.LastExitStatus)}, nil
	}
	if len(args) == 2 {
		return []string{args[0], strings.TrimPrefix(strings.TrimSpace(args[1]), "+")}, nil
	}
	return args, nil
}

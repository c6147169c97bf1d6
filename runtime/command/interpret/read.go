package interpret

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// reading is what read is told to do.
type reading struct {
	raw   bool
	array string
	end   byte
	most  int  // characters, 0 for any number
	exact bool // the end does not end them
	names []string
}

// read is the builtin. It takes one byte at a time, as what follows is somebody else's.
func (s *shell) read(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	r, why := readOptions(args)
	if why != "" {
		return s.unsupported("read %s", why)
	}
	text, complete := r.take(hc.Stdin)
	if err := r.assign(ctx, hc, text); err != nil {
		return err
	}
	if !complete {
		return interp.ExitStatus(1)
	}
	return nil
}

func readOptions(args []string) (r reading, why string) {
	r.end = '\n'
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		option := args[0]
		args = args[1:]
		if option == "--" {
			break
		}
		for i := 1; i < len(option); i++ {
			letter := option[i]
			if strings.IndexByte("rse", letter) >= 0 {
				r.raw = r.raw || letter == 'r'
				continue
			}
			value := option[i+1:]
			if value == "" {
				if len(args) == 0 {
					return r, option
				}
				value, args = args[0], args[1:]
			}
			if !r.option(letter, value) {
				return r, option
			}
			break
		}
	}
	r.names = args
	if slices.ContainsFunc(append(args, r.array), func(n string) bool { return n != "" && !syntax.ValidName(n) }) {
		return r, "into what is no plain name"
	}
	return r, ""
}

func (r *reading) option(letter byte, value string) bool {
	switch letter {
	case 'p': // which bash shows on a terminal alone
	case 'a':
		r.array = value
	case 'd':
		r.end = 0
		if value != "" {
			r.end = value[0]
		}
	case 'n', 'N':
		n, err := strconv.Atoi(value)
		r.most, r.exact = n, letter == 'N'
		return err == nil && n > 0
	default:
		return false
	}
	return true
}

// take reads up to the end. complete says that it was reached.
func (r *reading) take(in io.Reader) (text string, complete bool) {
	var b strings.Builder
	if in == nil {
		return "", false
	}
	for quoted, count := false, 0; ; {
		var c [1]byte
		if n, err := in.Read(c[:]); n == 0 || err != nil && n == 0 {
			return b.String(), false
		}
		switch {
		case quoted && c[0] == '\n' && !r.raw:
			text := b.String()
			b.Reset()
			b.WriteString(text[:len(text)-1])
			quoted = false
			continue
		case !quoted && c[0] == r.end && !r.exact:
			return b.String(), true
		case c[0] == 0: // which no variable holds
			continue
		}
		quoted = !r.raw && !quoted && c[0] == '\\'
		b.WriteByte(c[0])
		if !quoted && c[0]&0xc0 != 0x80 {
			count++
		}
		if r.most > 0 && count >= r.most && !quoted {
			return b.String(), true
		}
	}
}

func (r *reading) assign(ctx context.Context, hc interp.HandlerContext, text string) error {
	config := &expand.Config{Env: hc.Env}
	switch {
	case r.array != "":
		words := make([]string, 0, 8)
		for _, f := range expand.ReadFields(config, text, -1, r.raw) {
			q, err := syntax.Quote(f, syntax.LangBash)
			if err != nil {
				return err
			}
			words = append(words, q)
		}
		return hc.Builtin(ctx, []string{"eval", r.array + "=(" + strings.Join(words, " ") + ")"})
	case len(r.names) == 0 || r.exact:
		if !r.raw {
			text = unquotedText(text)
		}
		return set(ctx, append(r.names, "REPLY")[0], text)
	}
	fields := expand.ReadFields(config, text, len(r.names), r.raw)
	for i, name := range r.names {
		value := ""
		if i < len(fields) {
			value = fields[i]
		}
		if err := set(ctx, name, value); err != nil {
			return err
		}
	}
	return nil
}

// unquotedText is a text without the backslashes that quote a character.
func unquotedText(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			if i++; i == len(text) {
				break
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

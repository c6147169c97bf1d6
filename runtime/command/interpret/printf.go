package interpret

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// printf is the builtin.
func (s *shell) printf(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintf(hc.Stderr, "bash: line %d: printf: usage: printf [-v var] format [arguments]\n", hc.Pos.Line())
		return interp.ExitStatus(2)
	}
	into := ""
	if strings.HasPrefix(args[0], "-v") {
		if len(args) < 3 || args[0] != "-v" || !syntax.ValidName(args[1]) {
			return s.unsupported("printf -v but for a plain name and a format")
		}
		into, args = args[1], args[2:]
	}
	p := &printer{format: args[0], args: args[1:]}
	for {
		before := len(p.args)
		p.pass()
		if p.stop || len(p.args) == 0 || len(p.args) == before {
			break
		}
	}
	if p.unknown != "" {
		return s.unsupported("%s in the format of printf", p.unknown)
	}
	keep := func() error { return s.print(ctx, p.out.String()) }
	if into != "" {
		keep = func() error { return set(ctx, into, p.out.String()) }
	}
	if err := keep(); err != nil {
		return err
	}
	for _, complaint := range p.complaints {
		fmt.Fprintf(hc.Stderr, "bash: line %d: printf: %s\n", hc.Pos.Line(), complaint)
	}
	if len(p.complaints) > 0 {
		return interp.ExitStatus(1)
	}
	return nil
}

// printer goes through a format, once or more often.
type printer struct {
	format     string
	args       []string
	out        strings.Builder
	stop       bool
	unknown    string
	complaints []string
}

func (p *printer) pass() {
	for rest := p.format; rest != "" && !p.stop; {
		at := strings.IndexByte(rest, '%')
		if at < 0 {
			at = len(rest)
		}
		text, _ := unescaped(rest[:at], escapesOfFormat)
		p.out.WriteString(text)
		if rest = rest[at:]; rest == "" {
			return
		}
		n := p.directive(rest)
		rest = rest[n:]
	}
}

// directive is one % with what belongs to it. It returns its length.
func (p *printer) directive(text string) int {
	if strings.HasPrefix(text, "%%") {
		p.out.WriteByte('%')
		return 2
	}
	i := 1
	for i < len(text) && strings.IndexByte("-+ #0", text[i]) >= 0 {
		i++
	}
	flags := text[1:i]
	width, i := p.count(text, i)
	precision := -1
	if i < len(text) && text[i] == '.' {
		precision, i = p.count(text, i+1)
		precision = max(precision, 0)
	}
	for i < len(text) && strings.IndexByte("hlLqjzt", text[i]) >= 0 && text[i] != 'q' {
		i++
	}
	if i >= len(text) {
		p.unknown, p.stop = "a % without a letter", true
		return len(text)
	}
	if width < 0 {
		flags, width = flags+"-", -width
	}
	p.convert(text[i], flags, width, precision)
	return i + 1
}

func (p *printer) count(text string, i int) (n, end int) {
	if i < len(text) && text[i] == '*' {
		return int(p.integer()), i + 1
	}
	end = i
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, _ = strconv.Atoi(text[i:end])
	return min(n, 1<<20), end
}

func (p *printer) next() string {
	if len(p.args) == 0 {
		return ""
	}
	a := p.args[0]
	p.args = p.args[1:]
	return a
}

func (p *printer) convert(letter byte, flags string, width, precision int) {
	switch letter {
	case 's':
		p.pad(cut(p.next(), precision), flags, width)
	case 'b':
		text, stop := unescaped(p.next(), escapesOfB)
		p.stop = p.stop || stop
		p.pad(cut(text, precision), flags, width)
	case 'q':
		text := p.next()
		quoted, ok := backslashed(text)
		if !ok {
			p.unknown, p.stop = "%q of a text that needs more than backslashes", true
			return
		}
		p.pad(quoted, flags, width)
	case 'c':
		p.pad(cutBytes(p.next(), 1), flags, width)
	case 'd', 'i':
		p.number(strconv.FormatInt(p.integer(), 10), "", flags, width, precision)
	case 'u':
		p.number(strconv.FormatUint(uint64(p.integer()), 10), "", flags, width, precision)
	case 'x', 'X', 'o':
		p.based(letter, flags, width, precision)
	case 'f', 'F', 'e', 'E', 'g', 'G':
		p.float(letter, flags, width, precision)
	default:
		p.unknown, p.stop = "%"+string(rune(letter)), true
	}
}

func (p *printer) based(letter byte, flags string, width, precision int) {
	n := uint64(p.integer())
	text, prefix := strconv.FormatUint(n, 16), "0x"
	if letter == 'o' {
		text, prefix = strconv.FormatUint(n, 8), "0"
	}
	if letter == 'X' {
		text, prefix = strings.ToUpper(text), "0X"
	}
	if !strings.Contains(flags, "#") || n == 0 {
		prefix = ""
	}
	p.number(text, prefix, strings.NewReplacer("+", "", " ", "").Replace(flags), width, precision)
}

// number pads a number with zeros, and writes its sign.
func (p *printer) number(text, prefix, flags string, width, precision int) {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	} else if strings.Contains(flags, "+") {
		sign = "+"
	} else if strings.Contains(flags, " ") {
		sign = " "
	}
	if precision >= 0 {
		text = strings.Repeat("0", max(0, precision-len(text))) + text
	} else if strings.Contains(flags, "0") && !strings.Contains(flags, "-") {
		text = strings.Repeat("0", max(0, width-len(text)-len(sign)-len(prefix))) + text
	}
	p.pad(sign+prefix+text, flags, width)
}

func (p *printer) float(letter byte, flags string, width, precision int) {
	text := strings.TrimSpace(p.next())
	n, err := strconv.ParseFloat(text, 64)
	if text == "" {
		n, err = 0, nil
	}
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		p.complaints = append(p.complaints, text+": invalid number")
	}
	if precision < 0 {
		precision = 6
	}
	format := "%"
	for _, f := range "-+ #0" {
		if strings.ContainsRune(flags, f) {
			format += string(f)
		}
	}
	fmt.Fprintf(&p.out, format+"*.*"+string(rune(letter)), width, precision, n)
}

// integer is the next argument as a number, as C writes it; after a quote, the character's.
func (p *printer) integer() int64 {
	text := p.next()
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		r, size := utf8.DecodeRuneInString(text[1:])
		if size == 0 {
			return 0
		}
		return int64(r)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && !strings.ContainsAny(text, "_bBoO") {
		return n
	}
	p.complaints = append(p.complaints, text+": invalid number")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	n, _ := strconv.ParseInt(text[:end], 10, 64)
	return n
}

// pad counts characters, as bash does for what it pads itself and C does not: bytes.
func (p *printer) pad(text, flags string, width int) {
	blank := strings.Repeat(" ", max(0, width-len(text)))
	if strings.Contains(flags, "-") {
		p.out.WriteString(text + blank)
		return
	}
	p.out.WriteString(blank + text)
}

func cut(text string, precision int) string {
	if precision < 0 {
		return text
	}
	return cutBytes(text, precision)
}

func cutBytes(text string, n int) string { return text[:min(n, len(text))] }

// backslashed quotes a text as %q does where it holds no control characters.
func backslashed(text string) (string, bool) {
	if text == "" {
		return "''", true
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r < ' ' || r >= 0x7f:
			return "", false
		case r == '~' && i > 0, r == '#' && i > 0:
		case strings.ContainsRune(" !\"#$&'()*,;<>?[\\]^`{|}~", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	_, err := syntax.Quote(text, syntax.LangBash)
	return b.String(), err == nil
}

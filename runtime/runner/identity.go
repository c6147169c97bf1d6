package runner

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/text"
)

const (
	gitConfigName = ".gitconfig"
	maxGitConfig  = 256 << 10
	maxIdentity   = 256 // bytes of a name or an address
)

// gitIdentity writes the configuration of git that commands find, and returns its file,
// canonical: the person's name and address, and nothing else of the person's.
func (r *Runner) gitIdentity() (string, error) {
	state, err := r.state()
	if err != nil {
		return "", err
	}
	file := filepath.Join(state, "gitconfig")
	content := r.personIdentity().config()
	if now, err := regular.Read(file, maxGitConfig, false); err == nil && bytes.Equal(now, content) {
		return file, nil
	}
	return file, atomicfile.Write(file, content, 0o600)
}

type identity struct{ name, email string }

// personIdentity reads who the person is to git, from the files that git reads. Those that
// they include are not followed.
func (r *Runner) personIdentity() (who identity) {
	if r.config.Home == "" {
		return who
	}
	config := r.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(r.config.Home, ".config")
	}
	for _, file := range []string{filepath.Join(config, "git", "config"), filepath.Join(r.config.Home, gitConfigName)} {
		if content, err := regular.Read(file, maxGitConfig, true); err == nil {
			who.read(string(content))
		}
	}
	return who
}

// read takes the keys of the section user, as git-config(1) writes it.
func (who *identity) read(content string) {
	inUser := false
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section, rest, _ := strings.Cut(line[1:], "]")
			inUser, line = strings.EqualFold(strings.TrimSpace(section), "user"), strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(line, "=")
		if !inUser || !ok {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "name":
			who.name = configValue(value)
		case "email":
			who.email = configValue(value)
		}
	}
}

// configValue is a value without its quotes, escapes and comment.
func configValue(raw string) string {
	var value strings.Builder
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(raw):
			i++
			value.WriteByte(raw[i])
		case !quoted && (c == '#' || c == ';'):
			return plainValue(value.String())
		default:
			value.WriteByte(c)
		}
	}
	return plainValue(value.String())
}

// plainValue has no control characters, and is of bounded length.
func plainValue(value string) string {
	value = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(value, ""))
	return text.Head(strings.TrimSpace(value), maxIdentity)
}

// config is a configuration file of git that says who the person is.
func (who identity) config() []byte {
	var b bytes.Buffer
	b.WriteString("# The name and address of the person, for commits of commands; written by air.\n[user]\n")
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, v := range [][2]string{{"name", who.name}, {"email", who.email}} {
		if v[1] != "" {
			b.WriteString("\t" + v[0] + ` = "` + quote.Replace(v[1]) + "\"\n")
		}
	}
	return b.Bytes()
}

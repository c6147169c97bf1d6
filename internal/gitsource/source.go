// Package gitsource brings files of one commit out of a git repository that nobody trusts.
// It executes nothing that comes from the repository, and checks nothing out.
package gitsource

import (
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/text"
)

// Prefix marks a source in git on the command line.
const Prefix = "git:"

// Source names a folder of a repository at one revision.
type Source struct {
	URL string // without credentials; the absolute path of a repository on this machine
	Rev string // branch, tag or whole commit; empty for the default branch
	Dir string // slash-separated folder in the repository, empty for its top

	remote   string // URL as git is told it
	protocol string // https, ssh or file
	user     string // of an https URL, with the password; neither is recorded nor shown
	password string
}

const hintURL = "write git:URL, git:URL@REV or git:URL@REV#FOLDER, with a URL of https, ssh or file, or a folder"

// Parse reads git:URL[@REV][#DIR]. The first @ in the path of the URL begins the revision,
// which may have more of them: one that belongs to the path is written %40.
func Parse(arg string) (Source, error) {
	location, dir, _ := strings.Cut(strings.TrimPrefix(arg, Prefix), "#")
	path := pathOf(location)
	rev := ""
	if at := strings.IndexByte(location[path:], '@'); at >= 0 {
		location, rev = location[:path+at], location[path+at+1:]
	}
	return open(location, rev, dir)
}

// Recorded is the source of what Record returned, at another revision.
func Recorded(record, rev string) (Source, error) {
	location, dir, _ := strings.Cut(record, "#")
	return open(location, rev, dir)
}

// Record is URL and folder in one line, with neither revision nor credentials.
func (s Source) Record() string {
	if s.Dir == "" {
		return s.URL
	}
	return s.URL + "#" + s.Dir
}

// Pinned reports whether the revision names a commit, which cannot become another one.
func (s Source) Pinned() bool { return wholeCommit.MatchString(s.Rev) }

// Asked is the revision in a word that is never empty.
func (s Source) Asked() string {
	if s.Rev == "" {
		return "HEAD"
	}
	return s.Rev
}

// Travels reports whether a recorded URL means the same on other machines.
func Travels(record string) bool {
	return strings.Contains(record, "://") || scpLike.MatchString(record)
}

// scpLike is USER@HOST:PATH of git. What has a slash before its colon is a path.
var scpLike = lazyregexp.New(`^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*@)?[A-Za-z0-9_][A-Za-z0-9_.-]*:[^:]`)

var (
	wholeCommit = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	helperName  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)
	userName    = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
)

// pathOf is where the path of a location begins: an @ before it belongs to the host.
func pathOf(location string) int {
	if scheme := strings.Index(location, "://"); scheme >= 0 {
		if slash := strings.IndexByte(location[scheme+3:], '/'); slash >= 0 {
			return scheme + 3 + slash
		}
		return len(location)
	}
	if colon := strings.IndexByte(location, ':'); colon >= 0 && scpLike.MatchString(location) {
		return colon
	}
	return 0
}

func open(location, rev, dir string) (Source, error) {
	s := Source{Rev: rev, Dir: strings.TrimSuffix(dir, "/")}
	if s.Dir == "." {
		s.Dir = ""
	}
	if err := checkRev(rev); err != nil {
		return s, err
	}
	if s.Dir != "" && (!fs.ValidPath(s.Dir) || strings.ContainsAny(s.Dir, "\\#") || !printable(s.Dir)) {
		return s, bad("bad_folder", "%q is no folder of a repository: want a relative path without . and ..", text.Line(s.Dir, 200))
	}
	return s, s.locate(location)
}

// locate reads the URL. No error repeats it: it may hold a password.
func (s *Source) locate(location string) error {
	switch {
	case location == "":
		return bad("bad_url", "there is no URL")
	case location[0] == '-' || helperName.MatchString(location) || !printable(location):
		return bad("bad_url", "the URL is none of https, ssh or file, and no folder")
	case strings.Contains(location, "://"):
		return s.locateURL(location)
	case scpLike.MatchString(location):
		s.URL, s.remote, s.protocol = location, location, "ssh"
		return nil
	}
	abs, err := filepath.Abs(location)
	if err != nil {
		return err
	}
	s.URL, s.remote, s.protocol = abs, (&url.URL{Scheme: "file", Path: abs}).String(), "file"
	return nil
}

func (s *Source) locateURL(location string) error {
	u, err := url.Parse(location)
	if err != nil {
		return bad("bad_url", "the URL is malformed")
	}
	local := u.Scheme == "file"
	switch {
	case u.Scheme != "https" && u.Scheme != "ssh" && !local:
		return bad("bad_url", "a repository is not fetched by %s", text.Line(u.Scheme, 40))
	case u.RawQuery != "" || u.ForceQuery:
		return bad("bad_url", "the URL of a repository has no ?")
	case local && (u.Host != "" || u.User != nil), !local && u.Hostname() == "", strings.HasPrefix(u.Host, "-"):
		return bad("bad_url", "the URL names no host as %s has it", u.Scheme)
	case u.Path == "" || u.Path == "/":
		return bad("bad_url", "the URL names no repository")
	}
	if u.User != nil && !s.identify(u) {
		return bad("bad_url", "the URL has a user name that ssh does not take")
	}
	s.URL, s.remote, s.protocol = u.String(), u.String(), u.Scheme
	return nil
}

// identify takes what is secret out of a URL. ssh has its keys for that.
func (s *Source) identify(u *url.URL) bool {
	name := u.User.Username()
	if u.Scheme == "ssh" {
		u.User = url.User(name)
		return userName.MatchString(name)
	}
	s.user = name
	s.password, _ = u.User.Password()
	u.User = nil
	return !strings.ContainsAny(s.user+s.password, "\r\n\x00") // would end a line of git's protocol
}

// checkRev takes what git-check-ref-format takes as a name, and nothing that git would read
// as an option, a pattern or an expression.
func checkRev(rev string) error {
	odd := rev != "" && (strings.ContainsAny(rev[:1], "-+/.") || strings.HasSuffix(rev, "/") || strings.HasSuffix(rev, ".") || rev == "@")
	for _, part := range []string{"..", "@{", "//", "/.", ".lock/"} {
		odd = odd || strings.Contains(rev+"/", part)
	}
	if odd || len(rev) > 250 || strings.ContainsAny(rev, " ~^:?*[\\") || !printable(rev) {
		return bad("bad_revision", "%q is no branch, tag or commit", text.Line(rev, 100))
	}
	return nil
}

func printable(s string) bool { return text.Printable(s) == s && !strings.ContainsAny(s, "\n\t\r") }

func bad(code, format string, args ...any) error {
	return fault.New(fault.InvalidInput, code, format, args...).WithHint(hintURL)
}

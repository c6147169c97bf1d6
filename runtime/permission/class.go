package permission

import (
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// classify says where a canonical path lies. mode is that of what is there, 0 when
// nothing is.
func (p *Paths) classify(canonical string, kind Kind, mode fs.FileMode) Class {
	if !openable(mode) {
		return ClassForbidden
	}
	class := p.classByName(canonical, kind)
	if (class == ClassOutside || class == ClassDangerous) && p.onlyRootReads(canonical, fold(canonical)) {
		return ClassCredentials
	}
	return class
}

// classByName is the class of a path whatever is there. It does not look at the file
// system.
func (p *Paths) classByName(canonical string, kind Kind) Class {
	at := fold(canonical)
	if p.floor(canonical, at, kind) != "" {
		return ClassForbidden
	}
	rel, inside := p.projectPath(canonical, at)
	switch {
	case p.isCredential(at):
		return ClassCredentials
	case inside:
		return projectClass(fold(rel), kind)
	case within(canonical, p.artifacts):
		return ClassProject
	}
	return p.outsideClass(at, kind)
}

// openable reports whether opening a file of this mode cannot block or do something.
func openable(mode fs.FileMode) bool {
	return mode&(fs.ModeDevice|fs.ModeCharDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular) == 0
}

// floor returns the code of the floor that refuses a path by its name, "" when none
// does. at is the folded path.
func (p *Paths) floor(canonical, at string, kind Kind) string {
	write := kind != Read
	rel, inside := p.projectPath(canonical, at)
	if !inside {
		rel = at
	}
	switch {
	case within(at, p.airHome) && !inside && (write || !p.isOwnArtifact(canonical)):
		return CodeFloorAirHome
	case write && (within(p.airHome, at) || within(at, "/etc/air")):
		return CodeFloorAirHome
	case write && (hasName(fold(rel), ".air") || within(p.root+"/.air", canonical)):
		return CodeFloorShared
	case write && (within(at, p.airBinary) || within(p.airBinary, at)):
		return CodeFloorBinary
	case deviceByName(at, write):
		return CodeFloorDevice
	}
	return ""
}

// isOwnArtifact reports whether the path is one of this session's artifacts. What was
// quarantined is for people alone.
func (p *Paths) isOwnArtifact(canonical string) bool {
	return within(canonical, p.artifacts) && !within(canonical, p.artifacts+"/quarantine")
}

// deviceByName knows the parts of the kernel's own file systems that give away, or
// change, more than a file.
func deviceByName(at string, write bool) bool {
	if within(at, "/dev/shm") {
		return false
	}
	if within(at, "/dev") && (write || at != "/dev") {
		return true
	}
	if write {
		return within(at, "/proc") || within(at, "/sys")
	}
	rel, ok := below(at, "/proc")
	if !ok {
		return false
	}
	return rel == "kcore" || slices.ContainsFunc(strings.Split(rel, "/")[1:], func(name string) bool {
		return slices.Contains([]string{"mem", "environ", "root", "cwd", "exe", "fd", "map_files"}, name)
	})
}

// secretNames, secretBeginning and secretEndings are of what holds secrets, wherever it lies: a file, or
// a folder with all in it.
var (
	secretNames = []string{
		".env", "auth.json", "secring.gpg", ".npmrc", ".netrc", ".pypirc", ".git-credentials",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
	}
	secretBeginning = ".env."
	secretEndings   = []string{".pem", ".key", ".p8", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdb", ".kdbx", ".agekey"}
)

// obeyedNames are what other programs execute or obey when they find it in a project:
// a file, or a folder with all in it.
var obeyedNames = []string{
	".claude", ".cursor", ".vscode", ".idea", ".husky",
	".mcp.json", ".envrc", ".gitlab-ci.yml", ".gitattributes", ".gitmodules",
	"claude.md", "agents.md", "gemini.md", ".pre-commit-config.yaml",
}

// obeyedPaths are the same in a folder that holds other files, too.
var obeyedPaths = []string{".github/workflows", ".cargo/config.toml", ".cargo/config"}

func projectClass(rel string, kind Kind) Class {
	switch {
	case hasName(rel, ".git") || isSecret(rel):
		return ClassProtected
	case kind != Read && isObeyed(rel):
		return ClassObeyed
	}
	return ClassProject
}

// isSecret reports whether one of the names in the path is that of a secret.
func isSecret(at string) bool {
	for at != "" {
		var name string
		if name, at, _ = strings.Cut(at, "/"); isSecretName(name) {
			return true
		}
	}
	return false
}

func isSecretName(name string) bool {
	return slices.Contains(secretNames, name) || strings.HasPrefix(name, secretBeginning) ||
		slices.ContainsFunc(secretEndings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

func isObeyed(at string) bool {
	if slices.ContainsFunc(obeyedPaths, func(path string) bool { return strings.Contains("/"+at+"/", "/"+path+"/") }) {
		return true
	}
	return slices.ContainsFunc(obeyedNames, func(name string) bool { return hasName(at, name) })
}

// hasName reports whether one of the names in the path is name.
func hasName(at, name string) bool {
	for at != "" {
		var first string
		if first, at, _ = strings.Cut(at, "/"); first == name {
			return true
		}
	}
	return false
}

// fold brings a path into the form in which it is compared with protected places:
// NFC, without case, without characters that some file systems ignore.
func fold(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if ascii {
		return strings.ToLower(text)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
}

package permission

import (
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// outsideClass is the class of what lies in no project. at is the folded path.
func (p *Paths) outsideClass(at string, kind Kind) Class {
	switch {
	case isSystem(at):
		return ClassSystem
	case isSecret(at):
		return ClassCredentials
	case p.isDangerous(at, kind):
		return ClassDangerous
	}
	return ClassOutside
}

var systemPlaces = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/run/systemd/resolve", "/etc/localtime", "/etc/os-release",
}

func isSystem(at string) bool {
	return slices.ContainsFunc(systemPlaces, func(place string) bool { return within(at, place) })
}

// homeCredentials are relative to a home.
var homeCredentials = []string{
	".ssh", ".aws", ".azure", ".config/gcloud", ".kube", ".gnupg", ".password-store", ".oci", ".terraform.d",
	".netrc", ".docker/config.json", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".vault-token", ".git-credentials",
	".config/git/credentials", ".config/gh", ".config/hub", ".config/containers/auth.json", ".cargo/credentials", ".cargo/credentials.toml",
	".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".local/share/keyrings", ".local/share/kwalletd", ".pki", "library/keychains",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge",
	"snap/firefox", "library/application support/google/chrome", "library/application support/firefox",
}

// rootCredentials hold the machine's own secrets.
var rootCredentials = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/wireguard", "/etc/networkmanager/system-connections",
}

func (p *Paths) isCredential(at string) bool {
	if rel, ok := p.homePath(at); ok && slices.ContainsFunc(homeCredentials, func(place string) bool { return within(rel, place) }) {
		return true
	}
	if within(at, "/root") && p.foldedHome != "/root" {
		return !within(p.root, "/root") || !within(at, fold(p.root))
	}
	hostKey, _ := path.Match("/etc/ssh/ssh_host_*_key", at)
	return hostKey || slices.ContainsFunc(rootCredentials, func(place string) bool { return within(at, place) })
}

// homePath is a folded path relative to the home that it lies in, the person's or
// anybody's.
func (p *Paths) homePath(at string) (rel string, ok bool) {
	if rel, ok := below(at, p.foldedHome); ok {
		return rel, true
	}
	if rel, ok := below(at, "/root"); ok {
		return rel, true
	}
	for _, homes := range []string{"/home", "/users"} {
		if rel, ok := below(at, homes); ok {
			_, rel, _ := strings.Cut(rel, "/")
			return rel, true
		}
	}
	return "", false
}

// onlyRootReads reports whether the path, or a folder above it, is root's and closed
// to everybody else. Temporary folders are not looked at: root's own are closed too.
func (p *Paths) onlyRootReads(canonical, at string) bool {
	if within(at, p.foldedHome) || slices.ContainsFunc(p.temporary, func(dir string) bool { return within(at, dir) }) {
		return false
	}
	for ; canonical != "/"; canonical = path.Dir(canonical) {
		info, err := os.Lstat(canonical)
		if err != nil {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && stat.Uid == 0 && info.Mode().Perm()&0o044 == 0 {
			return true
		}
	}
	return false
}

// caches are folders of dot-files in a home that hold nothing but copies.
var caches = []string{".cache", ".cargo/registry", ".rustup/toolchains", ".m2/repository", ".gradle/caches"}

func (p *Paths) isDangerous(at string, kind Kind) bool {
	rel, inHome := p.homePath(at)
	switch {
	case kind == Read && inHome && slices.ContainsFunc(caches, func(dir string) bool { return within(rel, dir) }):
		return false
	case inHome && (strings.HasPrefix(rel, ".") || within(rel, "library/launchagents")):
		return true
	case slices.ContainsFunc(p.onPath, func(dir string) bool { return within(at, dir) }):
		return true
	case kind == Read:
		return false
	}
	return within(at, "/etc") || within(at, "/run/systemd") || within(at, "/var/spool/cron") || hasName(at, ".git") || isObeyed(at)
}

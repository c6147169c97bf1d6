package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/home"
)

const (
	maxAuthFile   = 1 << 20 // bytes
	authFileTries = 10 * time.Second
)

// authFile is one configuration of Docker's form: config.json, or podman's auth.json.
type authFile struct {
	name    string // the path, or the name of the variable that holds the content
	content members
}

// authFiles names the files to ask, in order: what the environment names, then Docker's,
// then podman's. The first is also where a login is stored.
func authFiles() []string {
	var files []string
	add := func(dir string, elem ...string) {
		if dir != "" {
			files = append(files, filepath.Join(append([]string{dir}, elem...)...))
		}
	}
	person, _ := os.UserHomeDir() // without one, the files in it are not asked
	docker := os.Getenv("DOCKER_CONFIG")
	add(docker, "config.json")
	add(os.Getenv("REGISTRY_AUTH_FILE"))
	if docker == "" {
		add(person, ".docker", "config.json")
	}
	add(os.Getenv("XDG_RUNTIME_DIR"), "containers", "auth.json")
	if config := os.Getenv("XDG_CONFIG_HOME"); config != "" {
		add(config, "containers", "auth.json")
	} else {
		add(person, ".config", "containers", "auth.json")
	}
	return files
}

// readAuthFile takes a missing file for an empty one.
func readAuthFile(path string) (authFile, error) {
	f := authFile{name: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return f, err
	case !info.Mode().IsRegular() || info.Size() > maxAuthFile:
		return f, fmt.Errorf("%s is no file of at most %d bytes", path, maxAuthFile)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	return parseAuthFile(path, content)
}

// parseAuthFile repeats nothing of the content in its error: it may be a secret.
func parseAuthFile(name string, content []byte) (authFile, error) {
	f := authFile{name: name}
	if len(bytes.TrimSpace(content)) == 0 {
		return f, nil
	}
	if err := json.Unmarshal(content, &f.content); err != nil {
		return f, fmt.Errorf("%s is no JSON object", name)
	}
	return f, nil
}

// helper returns the name of the helper that keeps what belongs to key, or "".
func (f authFile) helper(key string) string {
	var helpers map[string]string
	if json.Unmarshal(f.content.get("credHelpers"), &helpers) == nil && helpers[key] != "" {
		return helpers[key]
	}
	var store string
	_ = json.Unmarshal(f.content.get("credsStore"), &store) // no text names no helper
	return store
}

func (f authFile) auths() members {
	var auths members
	_ = json.Unmarshal(f.content.get("auths"), &auths) // what is no object holds no entry
	return auths
}

// entry looks for the closest key: podman's of the repository and what is above it,
// then the host, then the addresses that older Dockers wrote. The bool is false when no
// key fits or the entry is empty, as beside a helper.
func (f authFile) entry(host, repository string) (authn.AuthConfig, bool, error) {
	var none authn.AuthConfig
	auths := f.auths()
	for _, key := range authKeys(auths, host, repository) {
		raw := auths.get(key)
		if raw == nil {
			continue
		}
		var config authn.AuthConfig
		if json.Unmarshal(raw, &config) != nil {
			return none, false, fmt.Errorf("%s: the entry of %s is damaged", f.name, key)
		}
		if config != none {
			return config, true, nil
		}
	}
	return none, false, nil
}

func authKeys(auths members, host, repository string) []string {
	var keys []string
	for path := host + "/" + repository; repository != "" && path != host; path = path[:strings.LastIndexByte(path, '/')] {
		keys = append(keys, path)
	}
	return append(append(keys, hostKey(host)), auths.ofHost(host)...)
}

// ofHost lists the keys that mean a host and nothing narrower.
func (m members) ofHost(host string) (keys []string) {
	for _, entry := range m {
		if entry.key == hostKey(host) || hostOfKey(entry.key) == host {
			keys = append(keys, entry.key)
		}
	}
	return keys
}

// hostKey is where clients keep the credentials of a host. One registry has a key of
// its own for historical reasons.
func hostKey(host string) string {
	if r, err := name.NewRegistry(host); err == nil && r.RegistryStr() == name.DefaultRegistry {
		return authn.DefaultAuthKey
	}
	return host
}

// hostOfKey returns the host of an address with a scheme or an API version, "" for
// other keys: HOST/NAMESPACE is podman's, and means less than the host.
func hostOfKey(key string) string {
	_, rest, scheme := strings.Cut(key, "://")
	if !scheme {
		rest = key
	}
	host, path, _ := strings.Cut(rest, "/")
	if path = strings.Trim(path, "/"); scheme || path == "" || path == "v1" || path == "v2" {
		return strings.ToLower(host)
	}
	return ""
}

// changeAuthFile gives change the entries of a file and writes what it leaves, whole
// or not at all. Everything else in the file keeps its value and its place.
func changeAuthFile(ctx context.Context, path string, change func(f authFile, auths *members) error) error {
	path, err := followLink(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, authFileTries)
	defer cancel()
	unlock, err := home.Lock(limited, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	f, err := readAuthFile(path)
	if err != nil {
		return err
	}
	before, auths := f.auths(), f.auths()
	if err := change(f, &auths); err != nil || slices.EqualFunc(before, auths, member.equal) {
		return err
	}
	f.content.set("auths", auths.raw())
	var out bytes.Buffer
	if err := json.Indent(&out, f.content.raw(), "", "\t"); err != nil {
		return err
	}
	return atomicfile.Write(path, append(out.Bytes(), '\n'), 0o600)
}

// followLink keeps a link to the file, which people have who keep such files together.
func followLink(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return target, err
}

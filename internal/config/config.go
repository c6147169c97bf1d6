// Package config reads ~/.air/config.yaml and the AIR_* variables that override it.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/yamldoc"
)

// Config is what a person sets for all their projects.
type Config struct {
	// Mode is how permissive the permission engine is: read-only, workspace-write or trusted.
	Mode string
	// PlainHTTP names the registries, as host:port, that are spoken to without TLS.
	PlainHTTP []string
	// Prompt is false where nobody may be asked, also on a terminal.
	Prompt bool
	// Budgets are the limits of what calls use in a session.
	Budgets Budgets
	// Policy is what the person forbids of capabilities in all projects, as it stands in the
	// file. This package does not look into it.
	Policy json.RawMessage
}

// modes from the strictest to the loosest.
var modes = []string{"read-only", "workspace-write", "trusted"}

const (
	fileName = "config.yaml"
	maxFile  = 256 << 10
)

// Load reads config.yaml in dir, which may be missing, and AIR_MODE, AIR_PLAIN_HTTP
// (separated by commas) and AIR_PROMPT.
func Load(dir string, getenv func(string) string) (Config, error) {
	v := viper.New()
	v.SetDefault("mode", "workspace-write")
	v.SetDefault("plain_http", []string{})
	v.SetDefault("prompt", true)
	path := filepath.Join(dir, fileName)
	f, err := mergeFile(v, path)
	if err != nil {
		return Config{}, err
	}
	fileMode := v.GetString("mode")
	if err := checkMode(fileMode, path); err != nil {
		return Config{}, err
	}
	if err := override(v, getenv); err != nil {
		return Config{}, err
	}
	c := Config{Mode: v.GetString("mode"), PlainHTTP: list(v.Get("plain_http")), Prompt: v.GetBool("prompt"), Budgets: f.Budgets, Policy: f.Policy}
	return c, checkOverride(c.Mode, fileMode)
}

// file is what config.yaml may hold. Viper by itself would take any key, in any case.
type file struct {
	SchemaVersion int       `json:"schema_version"`
	Mode          *string   `json:"mode,omitempty"`
	PlainHTTP     *[]string `json:"plain_http,omitempty"`
	Prompt        *bool     `json:"prompt,omitempty"`
	Budgets       Budgets   `json:"budgets"`

	Policy json.RawMessage `json:"policy,omitempty"`
}

// mergeFile returns the file besides: budgets and policy come from it alone, as a
// repository can bring along an environment.
func mergeFile(v *viper.Viper, path string) (file, error) {
	text, err := regular.Read(path, maxFile, true)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{}, nil
	case errors.Is(err, regular.ErrNot), errors.Is(err, regular.ErrTooLarge):
		return file{}, invalid("%w", err)
	case err != nil:
		return file{}, fault.IO("reading the configuration", err)
	}
	f := file{SchemaVersion: 1}
	if _, _, err := yamldoc.Decode(text, &f); err != nil {
		return file{}, invalid("%s: %w", path, err)
	}
	if f.SchemaVersion != 1 {
		return file{}, invalid("%s: schema_version is %d, this air knows 1", path, f.SchemaVersion)
	}
	if err := f.Budgets.check(path); err != nil {
		return file{}, err
	}
	doc, err := json.Marshal(f)
	if err != nil {
		return file{}, err
	}
	var settings map[string]any
	if err := json.Unmarshal(doc, &settings); err != nil {
		return file{}, err
	}
	return f, v.MergeConfigMap(settings)
}

// override takes what the environment sets; an empty variable sets nothing.
func override(v *viper.Viper, getenv func(string) string) error {
	for _, key := range []string{"mode", "plain_http", "prompt"} {
		if value := getenv("AIR_" + strings.ToUpper(key)); value != "" {
			v.Set(key, value)
		}
	}
	if value := getenv("AIR_PROMPT"); !slices.Contains([]string{"", "true", "false", "0", "1"}, value) {
		return invalid("AIR_PROMPT is %.40q: true or false is wanted", value)
	}
	return nil
}

// checkOverride lets the environment only tighten the mode: a repository can bring
// along settings that tools load into it.
func checkOverride(mode, fileMode string) error {
	if err := checkMode(mode, "AIR_MODE"); err != nil {
		return err
	}
	if slices.Index(modes, mode) > slices.Index(modes, fileMode) {
		return invalid("AIR_MODE is %q, which is looser than the configured mode %q", mode, fileMode).
			WithHint("the environment can only make the mode stricter; config.yaml can loosen it")
	}
	return nil
}

func checkMode(mode, where string) error {
	if slices.Contains(modes, mode) {
		return nil
	}
	return invalid("%s: mode is %.40q: one of %s is wanted", where, mode, strings.Join(modes, ", "))
}

func list(value any) []string {
	switch value := value.(type) {
	case []string:
		return value
	case string:
		return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	case []any:
		var items []string
		for _, item := range value {
			items = append(items, fmt.Sprint(item))
		}
		return items
	}
	return nil
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "bad_config", format, args...)
}

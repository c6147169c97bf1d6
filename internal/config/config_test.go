package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/config"
	"github.com/aircoding/air/internal/fault"
)

// What is no file does not keep anybody waiting.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	for _, put := range []func() error{
		func() error { return syscall.Mkfifo(path, 0o600) },
		func() error { return os.Symlink("/dev/zero", path) },
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(dir, func(string) string { return "" }); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name, file string
		env        map[string]string
		want       config.Config
		err        string
	}{
		{"defaults", "", nil, config.Config{Mode: "workspace-write", PlainHTTP: []string{}, Prompt: true}, ""},
		{"empty file", "# nothing yet\n", nil, config.Config{Mode: "workspace-write", PlainHTTP: []string{}, Prompt: true}, ""},
		{"file", "schema_version: 1\nmode: trusted\nplain_http: [localhost:5000, b:1]\nprompt: false\n", nil,
			config.Config{Mode: "trusted", PlainHTTP: []string{"localhost:5000", "b:1"}}, ""},
		{"environment", "mode: trusted\nprompt: true\n", map[string]string{"AIR_MODE": "read-only", "AIR_PLAIN_HTTP": "a:1, b:2", "AIR_PROMPT": "false"},
			config.Config{Mode: "read-only", PlainHTTP: []string{"a:1", "b:2"}}, ""},
		{"empty variable", "mode: read-only\n", map[string]string{"AIR_MODE": ""}, config.Config{Mode: "read-only", PlainHTTP: []string{}, Prompt: true}, ""},
		{"looser by environment", "", map[string]string{"AIR_MODE": "trusted"}, config.Config{}, "looser"},
		{"looser than the file", "mode: read-only\n", map[string]string{"AIR_MODE": "workspace-write"}, config.Config{}, "looser"},
		{"unknown mode", "mode: yolo\n", nil, config.Config{}, `mode is "yolo"`},
		{"unknown mode in the environment", "", map[string]string{"AIR_MODE": "yolo"}, config.Config{}, "AIR_MODE: mode is"},
		{"empty mode", "mode: ''\n", nil, config.Config{}, `mode is ""`},
		{"unknown key", "mode: trusted\nplainhttp: [a]\n", nil, config.Config{}, `line 2: unknown key "plainhttp", did you mean "plain_http"?`},
		{"key in another case", "MODE: trusted\n", nil, config.Config{}, `line 1: unknown key "MODE", did you mean "mode"?`},
		{"wrong type", "prompt: maybe\n", nil, config.Config{}, "/prompt: got a string, want true or false"},
		{"wrong type in the environment", "", map[string]string{"AIR_PROMPT": "maybe"}, config.Config{}, "AIR_PROMPT"},
		{"budgets", "budgets:\n  session: {calls: 5, bytes_out: 1125899906842624}\n  capability: {wall_seconds: 60}\n", nil,
			config.Config{Mode: "workspace-write", PlainHTTP: []string{}, Prompt: true, Budgets: config.Budgets{
				Session: config.Budget{Calls: new(int64(5)), BytesOut: new(int64(1 << 50))}, Capability: config.Budget{WallSeconds: new(int64(60))},
			}}, ""},
		{"empty budgets", "budgets:\n  session: {}\n", nil, config.Config{Mode: "workspace-write", PlainHTTP: []string{}, Prompt: true}, ""},
		{"budget of nothing", "budgets: {session: {calls: 0}}\n", nil, config.Config{}, "budgets.session.calls is 0: a number from 1"},
		{"budget below nothing", "budgets: {capability: {bytes_out: -1}}\n", nil, config.Config{}, "budgets.capability.bytes_out is -1"},
		{"budget beyond reason", "budgets: {session: {wall_seconds: 999999999999}}\n", nil, config.Config{}, "budgets.session.wall_seconds is 999999999999"},
		{"unknown budget", "budgets: {session: {bytes: 1}}\n", nil, config.Config{}, `unknown key "bytes"`},
		{"unknown group of budgets", "budgets: {project: {}}\n", nil, config.Config{}, `unknown key "project"`},
		{"budget as a fraction", "budgets: {session: {calls: 1.5}}\n", nil, config.Config{}, "/budgets/session/calls: got the number 1.5, want a whole number"},
		{"later version", "schema_version: 2\n", nil, config.Config{}, "schema_version is 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := config.Load(dir, func(name string) string { return c.env[name] })
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !fault.Is(err, fault.InvalidInput) {
					t.Errorf("got %v, want an error with %q", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// toolView is a tool as `air tool` shows it.
type toolView struct {
	Name         string          `json:"name"`
	Version      int             `json:"version"`
	Category     string          `json:"category"`
	Capability   string          `json:"capability"`
	BuiltIn      bool            `json:"built_in"`
	Description  string          `json:"description"`
	Permissions  []string        `json:"permissions"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
}

func (a *app) toolCommand() *cobra.Command {
	return group("tool", "Show the tools of this project", a.toolLsCommand(), a.toolShowCommand())
}

func (a *app) toolLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the tools that can be called here",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.enabled(cmd.Context())
			if err != nil {
				return err
			}
			tools, err := r.Tools(cmd.Context())
			if err != nil {
				return err
			}
			views := []toolView{}
			var rows [][]string
			for _, t := range tools {
				v := view(t)
				v.InputSchema, v.OutputSchema = nil, nil
				views = append(views, v)
				rows = append(rows, []string{v.Name, fmt.Sprint(v.Version), v.Capability, strings.Join(v.Permissions, ","), firstSentence(v.Description)})
			}
			return a.print(views, func(w io.Writer) {
				table(w, []string{"TOOL", "V", "CAPABILITY", "PERMISSIONS", "DESCRIPTION"}, rows)
			})
		},
	}
}

func (a *app) toolShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show TOOL",
		Short:             "Show one tool with its schemas",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.enabled(cmd.Context())
			if err != nil {
				return err
			}
			t, err := r.Lookup(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v := view(t)
			return a.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "%s version %d, of %s\n%s\n\npermissions: %s\n", v.Name, v.Version, v.Capability, text.Printable(v.Description), strings.Join(v.Permissions, ", "))
				fmt.Fprintf(w, "\ninput:\n%s\n\noutput:\n%s\n", pretty(v.InputSchema), pretty(v.OutputSchema))
			})
		},
	}
}

func view(t *runtime.Tool) toolView {
	return toolView{t.Name, t.Version, t.Category, t.Capability, t.BuiltIn(), t.Description, flagNames(t.Permissions), t.InputSchema, t.OutputSchema}
}

func flagNames(p permission.Permissions) []string {
	names := []string{}
	for name, set := range map[string]bool{
		"read_paths": p.Read, "write_paths": p.Write, "execute": p.Execute, "network": p.Network,
		"system_sensitive": p.SystemSensitive, "credentials": p.Credentials,
	} {
		if set {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

func pretty(j json.RawMessage) []byte {
	b, err := plainjson.Lines(j)
	if err != nil {
		return j
	}
	return bytes.TrimSuffix(b, []byte("\n"))
}

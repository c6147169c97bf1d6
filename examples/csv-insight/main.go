// Command csv-insight is a capability of AIR: two tools that describe CSV files. The
// work is in package insight; this file connects it to AIR.
package main

import (
	"errors"
	"runtime/debug"

	"csv-insight/insight"

	air "github.com/aircoding/air/sdk/go"
)

// softMemory makes the garbage collector work harder well below the 64 MiB that
// capability.json asks for.
const softMemory = 40 << 20

func init() {
	debug.SetMemoryLimit(softMemory)
	air.Handle("profile", profile)
	air.Handle("group", group)
}

func main() { air.Main() }

// file is the part of an input that says what to read and how.
type file struct {
	Path      string `json:"path"`
	Delimiter string `json:"delimiter"`
	HasHeader *bool  `json:"has_header"`
	MaxRows   int    `json:"max_rows"`
}

// config is what a person may set for the capability: see config_schema.
type config struct {
	NullValues []string `json:"null_values"`
	TopN       int      `json:"top_n"`
	PieceLines int      `json:"piece_lines"`
}

type profileInput struct {
	file
	Columns []string `json:"columns"`
}

type profileOutput struct {
	Path string `json:"path"`
	insight.Result
}

func profile(c *air.Context, in profileInput) (profileOutput, error) {
	cfg, text, err := open(c, in.file)
	if err != nil {
		return profileOutput{}, err
	}
	result, err := insight.Profile(text, insight.Options{
		Layout: in.layout(cfg), Columns: in.Columns, TopN: cfg.TopN,
	})
	return profileOutput{in.Path, result}, failure(err)
}

type groupInput struct {
	file
	By    string `json:"by"`
	Value string `json:"value"`
	Limit int    `json:"limit"`
}

type groupOutput struct {
	Path  string `json:"path"`
	By    string `json:"by"`
	Value string `json:"value,omitempty"`
	insight.Groups
}

func group(c *air.Context, in groupInput) (groupOutput, error) {
	cfg, text, err := open(c, in.file)
	if err != nil {
		return groupOutput{}, err
	}
	result, err := insight.GroupRows(text, insight.GroupOptions{
		Layout: in.layout(cfg), By: in.By, Value: in.Value, Limit: in.Limit,
	})
	return groupOutput{in.Path, in.By, in.Value, result}, failure(err)
}

const piecesBetweenReports = 8 // each report is a call of AIR and counts as one

func open(c *air.Context, f file) (config, *air.Text, error) {
	var cfg config
	if err := c.Config(&cfg); err != nil {
		return cfg, nil, err
	}
	text := c.Open(f.Path)
	text.PieceLines = cfg.PieceLines
	pieces := 0
	text.Progress = func(read, size int64) {
		if pieces++; pieces%piecesBetweenReports == 0 && size > 0 {
			c.Progress(float64(read)/float64(size), "%s", f.Path)
		}
	}
	return cfg, text, nil
}

func (f file) layout(cfg config) insight.Layout {
	return insight.Layout{
		Delimiter:  f.Delimiter,
		NoHeader:   f.HasHeader != nil && !*f.HasHeader,
		MaxRows:    f.MaxRows,
		NullValues: cfg.NullValues,
	}
}

// failure gives the errors of package insight their code. Those of the reader, such as
// a refusal, pass as they are.
func failure(err error) error {
	var own *insight.Error
	if errors.As(err, &own) {
		return air.Fail(own.Code, "%w", err)
	}
	return err
}

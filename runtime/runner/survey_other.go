//go:build !linux

package runner

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// survey is a walk through a folder that commands see; on this system none runs.
type survey struct {
	judge
	root, main     string
	outside, fixed bool
	made           bool
	guards         []guard
	retry          []string
}

func (s *survey) look(context.Context) error { return errors.New("commands are held on Linux only") }

func (s *survey) close() {}

func (s *survey) open() error { return s.look(context.Background()) }

func (s *survey) withhold(string) outcome { return outcome{} }

func (s *survey) tree() tree { return tree{} }

func (r *Runner) surveyOf(tree, *decided) *survey { return &survey{} }

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

//go:build !cgo

package sandbox

import "github.com/elastic/go-seccomp-bpf"

func libraryCalls() []string { return nil }

func libraryCallsWhen() []seccomp.NameWithConditions { return nil }

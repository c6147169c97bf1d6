package main

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// broad says what an allow rule of a project's file means that names nothing in particular,
// "" for one that does.
func broad(rule string) string {
	effect, _ := strings.CutPrefix(rule, "allow: ")
	word, pattern, _ := strings.Cut(strings.TrimSuffix(effect, ")"), "(")
	kind := permission.Kind(word)
	switch {
	case kind.IsPath():
		return broadPath(kind, pattern)
	case kind == permission.Net:
		if _, host, _ := strings.Cut(pattern, "://"); onlyWildcards(host[:max(0, strings.LastIndexByte(host, ':'))]) || onlyWildcards(host) {
			return "every host of the internet"
		}
	case kind == permission.Run:
		if first, _, _ := strings.Cut(pattern, " "); onlyWildcards(first) {
			return "every command, also one that loses what nothing brings back or needs hosts; about privileged and opaque ones it changes nothing"
		}
	case onlyWildcards(pattern):
		return fmt.Sprintf("everything of the kind %s", kind)
	}
	return ""
}

func onlyWildcards(text string) bool { return text != "" && strings.Trim(text, "*?.{},") == "" }

var fileVerbs = map[permission.Kind]string{
	permission.Read: "reading", permission.Write: "creating, replacing and deleting",
	permission.Create: "creating", permission.Overwrite: "replacing", permission.Delete: "deleting",
}

func broadPath(kind permission.Kind, pattern string) string {
	where := "in the project"
	below, isHome := strings.CutPrefix(pattern, "~/")
	switch {
	case isHome:
		where = "in your home"
	case strings.HasPrefix(pattern, "/"):
		below, where = pattern[1:], "on this machine"
	}
	if !onlyWildcards(strings.ReplaceAll(below, "/", "")) {
		return ""
	}
	return fmt.Sprintf("%s every file %s that is not protected", fileVerbs[kind], where)
}

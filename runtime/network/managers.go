package network

import (
	"slices"
	"strings"
)

// goHosts: https://go.dev/ref/mod#environment-variables.
func goHosts(a asking) (urls []string) {
	own := a.readHome(".config/go/env")
	proxies := a.variable(own, "GOPROXY")
	for proxy := range strings.FieldsFuncSeq(proxies, func(r rune) bool { return r == ',' || r == '|' }) {
		urls = append(urls, proxy) // direct and off are no URLs
	}
	sums := strings.Fields(a.variable(own, "GOSUMDB"))
	switch {
	case len(sums) > 1:
		urls = append(urls, sums[1])
	case len(sums) == 1 && sums[0] != "off":
		name, _, _ := strings.Cut(sums[0], "+")
		urls = append(urls, "https://"+name)
	}
	return urls
}

// variable is one of the environment, or of the program's own file of variables.
func (a asking) variable(own []setting, name string) string {
	if value := a.env(name); value != "" {
		return value
	}
	if found := values(own, name); len(found) > 0 {
		return found[len(found)-1]
	}
	return ""
}

// npmHosts are those of npm, of what works like it, and of both kinds of yarn: npm help
// registry. Registries of scopes are needed besides.
func npmHosts(a asking) []string {
	all := append(a.read(".npmrc", ".yarnrc", ".yarnrc.yml"), append(a.readHome(".npmrc"), a.readHome(".yarnrc")...)...)
	instead, besides := a.given("--registry")
	for _, s := range all {
		if strings.HasSuffix(s.key, ":registry") {
			besides = append(besides, s.value)
		}
	}
	if len(instead) == 0 {
		instead = first(a.env("npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_REGISTRY"), values(all, "registry", "npmRegistryServer"))
	}
	return append(instead, besides...)
}

// first is the variable, or the closest setting.
func first(variable string, configured []string) []string {
	if variable != "" {
		return []string{variable}
	}
	return configured[:min(1, len(configured))]
}

// pipHosts: https://pip.pypa.io/en/stable/topics/configuration/. poetry has its sources in
// pyproject.toml.
func pipHosts(a asking) []string {
	all := slices.Concat(a.read(".venv/pip.conf", "venv/pip.conf"), a.readHome(".config/pip/pip.conf"), a.readHome(".pip/pip.conf"))
	instead, besides := a.given("-i", "--index-url", "--index", "--pypi-url")
	besides = append(besides, strings.Fields(a.env("PIP_EXTRA_INDEX_URL"))...)
	besides = append(besides, values(all, "extra-index-url")...)
	for _, s := range a.read("pyproject.toml") {
		if strings.HasPrefix(s.section, "tool.poetry.source") && s.key == "url" {
			besides = append(besides, s.value)
		}
	}
	if len(instead) == 0 {
		instead = first(a.env("PIP_INDEX_URL"), values(all, "index-url"))
	}
	return append(instead, besides...)
}

// uvHosts: https://docs.astral.sh/uv/concepts/indexes/.
func uvHosts(a asking) []string {
	instead, besides := a.given("--default-index", "--index-url", "-i")
	for _, name := range []string{"UV_INDEX", "UV_EXTRA_INDEX_URL"} {
		for index := range strings.FieldsSeq(a.env(name)) {
			besides = append(besides, index[strings.Index(index, "=")+1:]) // NAME=URL
		}
	}
	var configured []string
	for _, s := range a.read("uv.toml", "pyproject.toml") {
		switch {
		case s.key == "index-url" && (s.section == "" || s.section == "tool.uv" || s.section == "pip"):
			configured = append(configured, s.value)
		case s.key == "url" && (s.section == "index" || s.section == "tool.uv.index"):
			besides = append(besides, s.value)
		}
	}
	if len(instead) == 0 {
		instead = first(a.env("UV_DEFAULT_INDEX", "UV_INDEX_URL"), configured)
	}
	return append(instead, besides...)
}

// cargoHosts: https://doc.rust-lang.org/cargo/reference/source-replacement.html.
func cargoHosts(a asking) []string {
	all := append(a.read(".cargo/config.toml", ".cargo/config"), a.readHome(".cargo/config.toml")...)
	instead, besides := a.given("--index")
	for _, s := range all {
		if strings.HasPrefix(s.section, "source.") && s.key == "registry" || strings.HasPrefix(s.section, "registries.") && s.key == "index" {
			besides = append(besides, s.value)
		}
	}
	return append(instead, besides...)
}

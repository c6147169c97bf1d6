//go:build !linux

package engine

func serveOnLinux() {}

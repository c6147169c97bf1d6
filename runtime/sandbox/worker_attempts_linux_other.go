//go:build linux && !amd64

package sandbox

func oldCallAttempts() []attempt { return nil }

func (p *probed) prepareOldCalls() error { return nil }

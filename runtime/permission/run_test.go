package permission

import "testing"

// TestRunDefaults is the table of commands by risk, with what the modes and the want of a
// sandbox change.
func TestRunDefaults(t *testing.T) {
	p := newPlace(t)
	bare := func(o *Options) { o.Unconfined = func() bool { return true } }
	engines := []*Engine{p.engine(""), p.engine("", mode(ModeReadOnly)), p.engine("", mode(ModeTrusted)), p.engine("", bare), p.engine("", mode(ModeReadOnly), bare), p.engine("", mode(ModeTrusted), bare)}
	for _, row := range []struct {
		risk  Risk
		codes [6]string // "": allowed
	}{
		{RiskReadOnly, [6]string{"", "", "", CodeNoSandbox, CodeNoSandbox, CodeNoSandbox}},
		{RiskWorkspace, [6]string{"", CodeReadOnlyMode, "", CodeNoSandbox, CodeReadOnlyMode, CodeNoSandbox}},
		{RiskNetwork, [6]string{CodeNetworkCommand, CodeNetworkCommand, CodeNetworkCommand, CodeNetworkCommand, CodeNetworkCommand, CodeNetworkCommand}},
		{RiskDestructive, [6]string{CodeDestructiveCommand, CodeDestructiveCommand, CodeDestructiveCommand, CodeDestructiveCommand, CodeDestructiveCommand, CodeDestructiveCommand}},
		{RiskPrivileged, [6]string{CodePrivilegedCommand, CodePrivilegedCommand, CodePrivilegedCommand, CodePrivilegedCommand, CodePrivilegedCommand, CodePrivilegedCommand}},
		{RiskOpaque, [6]string{CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand}},
		{"", [6]string{CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand}},
		{"harmless", [6]string{CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand, CodeOpaqueCommand}},
	} {
		for i, code := range row.codes {
			d := engines[i].Decide(request("shell.run", nil, Effect{Kind: Run, Target: "x y", Risk: row.risk, Why: "it does"}))[0]
			want := Ask
			if code == "" {
				want = Allow
			}
			p.want(d, want, code)
			if d.NoAlways != (row.risk == RiskPrivileged) {
				t.Errorf("engine %d, risk %q: NoAlways %v", i, row.risk, d.NoAlways)
			}
			if asked := d.Code == riskCodes[row.risk] && d.Code != ""; asked && d.Reason != "it does" {
				t.Errorf("engine %d, risk %q: the reason is %q", i, row.risk, d.Reason)
			}
		}
	}
}

// Where there is no sandbox a person's own rule and answer still allow a command.
func TestUnconfined(t *testing.T) {
	p := newPlace(t)
	e := p.engine("schema_version: 1\nrules:\n  - allow: run(go test **)\n", func(o *Options) { o.Unconfined = func() bool { return true } })
	p.want(e.Decide(request("shell.run", nil, Effect{Kind: Run, Target: "go test ./...", Risk: RiskWorkspace}))[0], Allow, "")
	r := request("shell.run", nil, Effect{Kind: Run, Target: "ls", Risk: RiskReadOnly})
	p.want(e.Decide(r)[0], Ask, CodeNoSandbox)
	if _, _, err := p.settle(e, r, Answer{Choice: Session}); err != nil {
		t.Fatal(err)
	}
	p.want(e.Decide(r)[0], Allow, "")
}

// TestKnownChanges: a file that the caller has read may be changed in the project, and
// nowhere else.
func TestKnownChanges(t *testing.T) {
	p := newPlace(t)
	for _, path := range []string{"old.txt", ".vscode/old", ".env", p.outside + "/old", p.home + "/.bashrc"} {
		p.put(path, "")
	}
	for path, want := range map[string][3]Verdict{
		"old.txt":             {Allow, Ask, Allow},
		".vscode/old":         {Ask, Ask, Ask},
		".env":                {Deny, Deny, Deny},
		p.outside + "/old":    {Ask, Ask, Allow},
		p.home + "/.bashrc":   {Ask, Ask, Ask},
		"/usr/include/stdc.h": {Ask, Ask, Ask},
	} {
		for i, e := range []*Engine{p.engine(""), p.engine("", mode(ModeReadOnly)), p.engine("", mode(ModeTrusted))} {
			f := p.resolve(Write, path)
			f.Known = true
			if d := e.Decide(request("fs.write", nil, f))[0]; d.Verdict != want[i] {
				t.Errorf("mode %d: %s: %s (%s), want %s", i, f, d.Verdict, d.Code, want[i])
			}
		}
	}
	e := p.engine("schema_version: 1\nrules:\n  - ask: overwrite(**)\n")
	f := p.resolve(Write, "old.txt")
	f.Known = true
	p.want(e.Decide(request("fs.write", nil, f))[0], Ask, CodeAskedByRule)
	p.want(e.Decide(request("fs.write", []Caller{{Capability: "csv", Digest: digestA, Permissions: Permissions{Write: true}}}, f))[0], Ask, CodeAskedByRule)
}

package permission

import "fmt"

// ruled is the fourth layer: the rules of all tiers.
func (e *Engine) ruled(c *Caller, f *Effect) (Decision, bool) {
	r := e.table.find(c, f, e.clock)
	if r == nil {
		return Decision{}, false
	}
	d := Decision{Effect: *f, Verdict: r.verdict, Layer: LayerRule, Rule: r.source, Reason: r.reason}
	switch r.verdict {
	case Deny:
		d.Code, d.Hint = CodeDeniedByRule, "a person wrote this rule: do not work around it"
	case Ask:
		d.Code, d.NoAlways = CodeAskedByRule, noAlways(f)
	}
	if d.Reason == "" {
		d.Reason = "a rule says so"
	}
	return d, true
}

// noAlways reports whether a question about the effect is for once or the session only.
func noAlways(f *Effect) bool {
	switch {
	case f.Kind == Run:
		return f.Risk == RiskPrivileged
	case f.Kind == Signal: // another day another process has the number
		return true
	}
	return f.Class == ClassPrivate || standards[f.Class].noAlways
}

// standard is a row of the table of defaults.
type standard struct {
	read, create, change Verdict // change: overwrite and delete
	code                 string
	noAlways             bool
}

var standards = map[Class]standard{
	ClassProject:     {read: Allow, create: Allow, change: Ask, code: CodeOverwrite},
	ClassProtected:   {read: Deny, create: Deny, change: Deny, code: CodeProtectedPath, noAlways: true},
	ClassObeyed:      {read: Allow, create: Ask, change: Ask, code: CodeObeyedFile, noAlways: true},
	ClassOutside:     {read: Ask, create: Ask, change: Ask, code: CodeOutsideProject},
	ClassDangerous:   {read: Ask, create: Ask, change: Ask, code: CodeDangerousPath, noAlways: true},
	ClassSystem:      {read: Allow, create: Ask, change: Ask, code: CodeSystemPath, noAlways: true},
	ClassCredentials: {read: Ask, create: Ask, change: Ask, code: CodeCredentials, noAlways: true},
}

// reasons are those of asking about effects that have no class and no risk.
var reasons = map[Kind]string{
	Net:    "nobody has allowed this host",
	Env:    "this variable changes what programs do",
	Signal: "it ends a process, or interferes with one",
	Secret: "nobody has allowed the use of this secret",
}

// byDefault is the last layer, where no rule matched.
func (e *Engine) byDefault(r *Request, c *Caller, f *Effect) Decision {
	d := Decision{Effect: *f, Layer: LayerDefault, Rule: defaultName(f)}
	switch {
	case f.Kind.IsPath():
		e.pathDefault(&d)
	case f.Kind == Run:
		e.runDefault(&d)
	case f.Class == ClassPrivate:
		d.ask(CodePrivateAddress)
	case f.Kind == ToolCall && (c == nil || r.Subject.BuiltIn):
		d.Verdict, d.Reason = Allow, "calling a tool is allowed, what it does is decided by itself"
	case f.Kind == Signal && f.Class == ClassProject:
		d.Verdict, d.Reason = Allow, "the process belongs to a command of this session"
	case f.Kind == Artifact:
		d.Verdict, d.Reason = Allow, "artifacts belong to the session"
	default:
		d.ask(CodeApprovalRequired)
		if reason, ok := reasons[f.Kind]; ok {
			d.Reason = reason
		}
	}
	if c != nil && (f.Class == ClassProject || d.Verdict == Allow && !(f.Kind == ToolCall && r.Subject.BuiltIn)) {
		d.Verdict, d.Code = Ask, CodeNotConsented
		d.Reason = fmt.Sprintf("nobody has allowed this to capability %q", c.Capability)
		d.Hint = "a person can enable the capability with: air enable " + c.Capability
	}
	return d
}

// ask makes an answer that is not about a path a question.
func (d *Decision) ask(code string) {
	d.Verdict, d.Code, d.Reason, d.NoAlways = Ask, code, meaning(code), noAlways(&d.Effect)
}

func defaultName(f *Effect) string {
	if f.Class == "" {
		return "default: " + string(f.Kind)
	}
	return "default: " + string(f.Kind) + " in " + string(f.Class)
}

func (e *Engine) pathDefault(d *Decision) {
	f := &d.Effect
	row, known := standards[f.Class]
	if !known { // a class that nobody decided about
		d.Code, d.Reason = CodeFloorUnresolved, meaning(CodeFloorUnresolved)
		return
	}
	d.Verdict = row.change
	switch {
	case f.Kind == Read:
		d.Verdict = row.read
	case f.Kind == Create, f.Known && f.Class == ClassProject:
		d.Verdict = row.create
	}
	d.Code, d.Reason, d.NoAlways = row.code, meaning(row.code), row.noAlways
	e.applyMode(d)
	switch d.Verdict {
	case Allow:
		d.Code, d.NoAlways, d.Reason = "", false, "allowed by default"
	case Deny:
		d.NoAlways = false
		d.Hint = fmt.Sprintf("do not work around this; a person can open it by a rule in %s that names it, such as %s(%s)", e.userFile(), f.Kind, e.paths.rulePattern(f.Target))
	}
}

// riskCodes are those of the commands that are asked about.
var riskCodes = map[Risk]string{
	RiskNetwork: CodeNetworkCommand, RiskDestructive: CodeDestructiveCommand, RiskPrivileged: CodePrivilegedCommand, RiskOpaque: CodeOpaqueCommand,
}

func (e *Engine) runDefault(d *Decision) {
	f := &d.Effect
	switch f.Risk {
	case RiskReadOnly:
		d.Verdict, d.Reason = Allow, "the command only reads"
	case RiskWorkspace:
		d.Verdict, d.Reason = Allow, "the command works in the project"
		e.applyMode(d)
	default:
		code, known := riskCodes[f.Risk]
		if !known {
			code = CodeOpaqueCommand
		}
		d.ask(code)
		if f.Why != "" {
			d.Reason = shorten(Printable(f.Why), 300) // it may quote the command
		}
	}
	if d.Verdict == Allow && e.unconfined() {
		d.ask(CodeNoSandbox)
	}
}

func (e *Engine) unconfined() bool { return e.options.Unconfined != nil && e.options.Unconfined() }

// applyMode lets the mode change an answer about project and outside; it never
// touches the other classes.
func (e *Engine) applyMode(d *Decision) {
	f := &d.Effect
	switch {
	case e.options.Mode == ModeReadOnly && f.Kind != Read && d.Verdict == Allow:
		d.Verdict, d.Code, d.Reason = Ask, CodeReadOnlyMode, meaning(CodeReadOnlyMode)
	case e.options.Mode == ModeTrusted && f.Kind.IsPath() && plain(f.Class) && f.Kind != Delete:
		d.Verdict = Allow
	}
}

func (e *Engine) userFile() string {
	if e.options.UserFile == "" {
		return "permissions.yaml"
	}
	return e.options.UserFile
}

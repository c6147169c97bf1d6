// Package permission answers one question: may this caller, through this tool, have
// this effect? The same inputs give the same answer. It reads the file system only to
// make paths canonical and to load rules and grants.
package permission

import "fmt"

// Kind names a sort of effect, with the words of the rule grammar.
type Kind string

const (
	Read      Kind = "read"
	Create    Kind = "create"
	Overwrite Kind = "overwrite"
	Delete    Kind = "delete"
	// Write stands in a plan for "create or overwrite, whichever it turns out to be";
	// Paths.Resolve replaces it. In a rule it means create, overwrite and delete.
	Write    Kind = "write"
	Run      Kind = "run"
	Env      Kind = "env"
	Net      Kind = "net"
	Signal   Kind = "signal"
	Secret   Kind = "secret"
	ToolCall Kind = "tool"
	Display  Kind = "display"
	Capture  Kind = "capture"
	Artifact Kind = "artifact"
)

// IsPath reports whether the target of the kind is a path.
func (k Kind) IsPath() bool {
	switch k {
	case Read, Create, Overwrite, Delete, Write:
		return true
	}
	return false
}

// Effect is one thing a call would touch.
//
// The target of a path effect is, after Paths.Resolve, the canonical absolute path; of
// a run effect the words of one simple command, see JoinArgv; of a net effect
// scheme://host:port, see NetTarget; of an env or secret effect a name; of a signal
// effect a process id; of a tool effect the tool's name; of an artifact effect the
// artifact's type.
type Effect struct {
	Kind   Kind   `json:"kind"`
	Target string `json:"target"`
	// Recursive marks a read of a folder with all that lies below it. Each entry is
	// decided again when it is opened.
	Recursive bool `json:"recursive,omitempty"`
	// Below marks a recursive effect that leaves the folder itself alone.
	Below bool `json:"below,omitempty"`
	// Folder marks the read of the folder that a command starts in.
	Folder bool `json:"folder,omitempty"`
	// Known marks a change of a file whose content the caller has seen, as by an edit
	// after a read: in the project it needs no question.
	Known bool `json:"known,omitempty"`
	// Class is filled in by Paths.Resolve for path effects. That of a signal effect is
	// ClassProject where the process belongs to a command of the session, ClassSystem else.
	Class Class `json:"class,omitempty"`
	// Risk is what a run effect's command may do, and Why says so in words.
	Risk Risk `json:"risk,omitempty"`
	// Hosts marks a run effect whose command needs hosts, whatever else it risks.
	Hosts bool   `json:"hosts,omitempty"`
	Why   string `json:"why,omitempty"`
	// Repository marks a run effect whose command changes a git repository.
	Repository bool `json:"repository,omitempty"`
	// Also is a run effect's command in its plainest form, where that is another one: a
	// deny or an ask that matches it counts too, an allow does not.
	Also string `json:"also,omitempty"`
	// Script is a file of the project that a run effect would execute, as the command
	// names it. ScriptSHA256 is the hex digest of what it holds; grants are bound to it.
	Script       string `json:"script,omitempty"`
	ScriptSHA256 string `json:"script_sha256,omitempty"`
	// Again marks a run effect that is decided once more when the command line comes to it: a
	// script that is not there before is nothing to wonder at.
	Again bool `json:"-"`
	// Led marks a path in the project whose class is not that of its own name: a link of
	// another name led there, or what lies beside it makes it what it is.
	Led bool `json:"-"`
	// MakesFolder marks the creation of a folder, as far as the command's words tell. Nothing
	// is decided by it.
	MakesFolder bool `json:"-"`
	// Dir is the folder that a run effect's command would run in, by its name, absolute; ""
	// where it is not known. Nothing is decided by it.
	Dir string `json:"-"`
	// Named is the path as the caller wrote it, kept by Paths.Resolve.
	Named string `json:"-"`
}

// Risk is the most that a command may do, as far as it can be known.
type Risk string

const (
	RiskReadOnly    Risk = "read-only"
	RiskWorkspace   Risk = "workspace"   // changes files of the project, or runs its code
	RiskNetwork     Risk = "network"     // needs hosts
	RiskDestructive Risk = "destructive" // loses what nothing brings back
	RiskPrivileged  Risk = "privileged"  // reaches beyond the project: other users, the system, other machines
	RiskOpaque      Risk = "opaque"      // cannot be known before it runs
)

func (e Effect) String() string { return fmt.Sprintf("%s(%s)", e.Kind, Printable(e.Target)) }

// UsesNetwork reports whether the effect may be for the network: one on a host, a command
// that needs hosts, and one that reaches beyond the project, which may. What was read as
// a credential could leave by it, so after the use of one it is denied, see
// docs/permissions.md. Of other commands that need hosts without saying so, a person is
// asked about the opaque ones, and the sandbox gives none of them a network.
func (e Effect) UsesNetwork() bool {
	return e.Kind == Net || e.Kind == Run && (e.Hosts || e.Risk == RiskNetwork || e.Risk == RiskPrivileged)
}

// AsNamed is the effect in its caller's words: it tells nothing of what is there, or of
// where the links in a path lead.
func (e Effect) AsNamed() Effect {
	named := Effect{Kind: e.Kind, Target: e.Target, Recursive: e.Recursive, Below: e.Below}
	if e.Named != "" {
		named.Target = e.Named
	}
	if e.Kind == Create || e.Kind == Overwrite {
		named.Kind = Write
	}
	return named
}

// Class says where a path lies, which decides the default verdict.
type Class string

const (
	ClassProject     Class = "project"
	ClassProtected   Class = "protected"
	ClassObeyed      Class = "obeyed" // project files that other programs execute or obey: a write asks, without "always"
	ClassOutside     Class = "outside"
	ClassDangerous   Class = "dangerous" // outside and executed or obeyed by others: ask, without "always"
	ClassSystem      Class = "system"
	ClassCredentials Class = "credentials"
	ClassForbidden   Class = "forbidden" // floors: nothing opens these
)

// Permissions are what a capability or tool declares at most to need, in the seed's
// words. The zero value asks for nothing.
type Permissions struct {
	Read            bool
	Write           bool
	Execute         bool
	Network         bool
	SystemSensitive bool
	Credentials     bool
	OutsideWrite    bool
	// Artifacts are the artifact types that may be created.
	Artifacts []string
}

// Scopes narrow the flags of Permissions; see contracts in docs/manifest.md.
// Without a scope, Read and Write mean the whole project, the others mean nothing.
type Scopes struct {
	Read     []string `json:"read,omitempty"`
	Write    []string `json:"write,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Network  []string `json:"network,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Secrets  []string `json:"secrets,omitempty"`
}

// Caller is one capability in a chain of callers.
type Caller struct {
	Capability  string      `json:"capability"`
	Digest      string      `json:"digest"` // of the bundle; "" for a bare module
	Permissions Permissions `json:"-"`
	Scopes      Scopes      `json:"-"`
	// Consented is true when a person enabled this digest in this project, which
	// allows exactly the permissions and scopes shown to them.
	Consented bool `json:"-"`
}

// Subject is the tool through which the effects would happen.
type Subject struct {
	Tool        string
	BuiltIn     bool
	Capability  string // owner of a third-party tool
	Permissions Permissions
}

// Request is all that the engine looks at.
type Request struct {
	Subject Subject
	// Chain are the calling capabilities, outermost first; empty when a person or
	// their agent calls. The subject's own capability is not in it.
	Chain     []Caller
	Effects   []Effect // resolved by Paths.Resolve
	Late      bool     // they turned up while the call ran
	SessionID string
	// Credentials are what this chain, or those above it, have used of credentials in
	// the session: canonical paths, or secret(NAME).
	Credentials []string
}

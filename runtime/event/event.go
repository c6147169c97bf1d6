// Package event keeps what happened: typed events, the durable ones in a chain that
// shows later changes.
package event

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/names"
)

// Event is one thing that happened.
type Event struct {
	ID        string          `json:"id"` // UUIDv7
	Type      string          `json:"type"`
	Version   int             `json:"version"`
	Timestamp time.Time       `json:"timestamp"` // UTC
	SessionID string          `json:"session_id,omitempty"`
	ProjectID string          `json:"project_id,omitempty"`
	Source    Source          `json:"source"`
	Route     []string        `json:"route"` // the capabilities that led here, outermost first
	Payload   json.RawMessage `json:"payload"`
}

// Source is who caused an event.
type Source struct {
	Kind string `json:"kind"` // runtime, tool, capability, person
	ID   string `json:"id,omitempty"`
}

// The built-in event types. The store decides durability by type.
const (
	SessionStarted = "session.started"
	SessionTask    = "session.task_started"

	ToolStarted   = "tool.started"
	ToolCompleted = "tool.completed"
	ToolFailed    = "tool.failed"
	ToolCancelled = "tool.cancelled"
	ToolProgress  = "tool.progress"

	CommandStarted   = "command.started"
	CommandCompleted = "command.completed"
	CommandFailed    = "command.failed"
	CommandCancelled = "command.cancelled"
	CommandStdout    = "command.stdout.delta"
	CommandStderr    = "command.stderr.delta"

	DiagnosticCreated = "diagnostic.created"

	WorkspaceCreated = "workspace.created"
	WorkspaceMerged  = "workspace.merged"
	WorkspaceRemoved = "workspace.removed"

	ArtifactCreated = "artifact.created"

	BackupCreated  = "backup.created"
	BackupRestored = "backup.restored"

	PermissionRequested = "permission.requested"
	PermissionDecided   = "permission.decided"
	PermissionGranted   = "permission.granted"
	PermissionRevoked   = "permission.revoked"

	CapabilityDiscovered    = "capability.discovered"
	CapabilityValidated     = "capability.validated"
	CapabilityDoctorChecked = "capability.doctor_checked"
	CapabilityEnabled       = "capability.enabled"
	CapabilityRegistered    = "capability.registered"
	CapabilityActivated     = "capability.activated"
	CapabilityDisabled      = "capability.disabled"
	CapabilityFailed        = "capability.failed"
	CapabilityUpdated       = "capability.updated"
	CapabilityRemoved       = "capability.removed"

	ProjectAccepted = "project.accepted"
	LockRepinned    = "project.lock.repinned"

	TrustChanged = "trust.changed"

	DoctorStarted   = "doctor.started"
	DoctorCompleted = "doctor.completed"

	SecretSet     = "secret.set"
	SecretRemoved = "secret.removed"
)

var durable = []string{
	SessionStarted, SessionTask,
	ToolStarted, ToolCompleted, ToolFailed, ToolCancelled,
	CommandStarted, CommandCompleted, CommandFailed, CommandCancelled,
	DiagnosticCreated,
	WorkspaceCreated, WorkspaceMerged, WorkspaceRemoved,
	ArtifactCreated,
	BackupCreated, BackupRestored,
	PermissionRequested, PermissionDecided, PermissionGranted, PermissionRevoked,
	CapabilityDiscovered, CapabilityValidated, CapabilityDoctorChecked, CapabilityEnabled, CapabilityRegistered, CapabilityActivated,
	CapabilityDisabled, CapabilityFailed, CapabilityUpdated, CapabilityRemoved,
	ProjectAccepted, LockRepinned, TrustChanged,
	DoctorStarted, DoctorCompleted,
	SecretSet, SecretRemoved,
}

// Durable lists the built-in types whose events are stored.
func Durable() []string { return slices.Clone(durable) }

// IsDurable reports whether events of the built-in type are stored.
func IsDurable(eventType string) bool { return slices.Contains(durable, eventType) }

// custom is the form of a capability's own events: capability.<id>.<name>.
var custom = lazyregexp.New(`^capability\.` + names.Capability + `\.[a-z0-9_]+(\.[a-z0-9_]+)*$`)

// IsCustom reports whether the type has the form of a capability's own event. Such
// events are ephemeral unless a person accepted a registration of the type.
func IsCustom(eventType string) bool { return custom.MatchString(eventType) }

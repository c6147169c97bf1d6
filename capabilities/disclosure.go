package capabilities

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/text"
)

// Disclosure is what a person is shown before they enable a capability. Every text of
// the publisher has been made safe to show; what AIR knows and what the publisher says
// are kept apart.
type Disclosure struct {
	CapabilityID string      `json:"capability_id"`
	Version      string      `json:"version"`
	Digest       string      `json:"digest"`
	ManifestHash string      `json:"manifest_hash"`
	ModuleSHA256 string      `json:"module_sha256"`
	ABI          hostabi.ABI `json:"abi,omitempty"`
	Source       string      `json:"source"`
	Signer       string      `json:"signer"`
	TrustLevel   TrustLevel  `json:"trust_level"`
	ProposedBy   string      `json:"proposed_by,omitempty"` // the project's file that names this digest
	LockSigner   string      `json:"lock_signer,omitempty"` // that the lock pins another signer than counts here
	Changes      *Difference `json:"changes,omitempty"`     // from what was consented to before

	Claims Claims `json:"publisher_claims"`

	Tools         []DisclosedTool `json:"tools"`
	Permissions   []string        `json:"permissions"` // in plain words
	Never         []string        `json:"never,omitempty"`
	Limits        []string        `json:"limits"`
	Dependencies  []string        `json:"dependencies,omitempty"`
	Verdicts      []Verdict       `json:"verdicts,omitempty"` // of the dependencies, where they were checked
	Events        []string        `json:"events,omitempty"`
	ArtifactTypes []string        `json:"artifact_types,omitempty"`
	TakesConfig   bool            `json:"takes_config"`
}

// Claims are what the manifest says about itself, which nothing proves.
type Claims struct {
	DisplayName string     `json:"display_name"`
	Description string     `json:"description"`
	Publisher   string     `json:"publisher,omitempty"`
	Source      string     `json:"source"`
	TrustLevel  TrustLevel `json:"trust_level"`
	Notes       []string   `json:"notes,omitempty"`
}

// DisclosedTool is one tool with what its publisher says of it.
type DisclosedTool struct {
	Name        string   `json:"name"`
	Version     int      `json:"version"`
	Category    string   `json:"category"`
	Description string   `json:"description"`
	Claims      []string `json:"claims,omitempty"` // annotations: nothing proves them
	May         []string `json:"may"`
}

// Disclose describes a bundle. Its source, signer and trust level are what AIR knows of it,
// not what its manifest says. verdicts are nil where nobody checked its dependencies.
func Disclose(c Found, verdicts []Verdict) Disclosure {
	m := c.Manifest
	d := Disclosure{
		CapabilityID: m.CapabilityID, Version: text.Line(m.Version, 64), Digest: c.Digest, ManifestHash: c.ManifestHash, ModuleSHA256: c.ModuleSHA256, ABI: m.abi(),
		Source: c.sourceWords(), Signer: c.signerWords(), TrustLevel: c.TrustLevel,
		Claims: Claims{
			DisplayName: text.Line(m.DisplayName, maxTitle), Description: text.Line(m.Description, maxText), Publisher: text.Line(m.Publisher, maxTitle),
			Source: text.Line(m.Source.String(), 300), TrustLevel: m.TrustLevel, Notes: lines(m.Permissions.Notes, 300),
		},
		Permissions: permissionWords(m), Never: neverWords(m), Limits: limitWords(m.limits(), m.abi()),
		Dependencies: dependencyWords(m.Dependencies, verdicts), Verdicts: verdicts, Events: lines(m.Events.Produced, 256),
		ArtifactTypes: lines(m.ArtifactTypes, 32), TakesConfig: m.ConfigSchema != nil,
	}
	for _, t := range m.Tools {
		d.Tools = append(d.Tools, DisclosedTool{
			Name: text.Line(t.Name, maxToolName), Version: t.Version, Category: text.Line(t.Category, 32), Description: text.Line(t.Description, maxText),
			Claims: annotationWords(t.Annotations), May: flagWords(t.Permissions, m.abi()),
		})
	}
	return d
}

// Write shows the disclosure to a person, first of all what changed.
func (d Disclosure) Write(w io.Writer) error {
	var b strings.Builder
	if d.Changes != nil {
		_ = d.Changes.Write(&b) // into memory
		b.WriteString("\nAll of it as it would be:\n\n")
	}
	fmt.Fprintf(&b, "%s %s\n", d.CapabilityID, d.Version)
	line(&b, "digest", cmp.Or(d.Digest, "none: a module without a manifest, sha256 "+d.ModuleSHA256))
	line(&b, "source", d.Source)
	line(&b, "signer", d.Signer)
	line(&b, "trust level", string(d.TrustLevel)+trustWords(d.TrustLevel))
	if d.LockSigner != "" {
		line(&b, "the lock", d.LockSigner)
	}
	if d.ProposedBy != "" {
		line(&b, "proposed by", d.ProposedBy)
	}
	if d.ABI != "" {
		line(&b, "runs as", abiWords(d.ABI))
	}
	d.writeClaims(&b)
	d.writeTools(&b)
	list(&b, "It may", d.Permissions)
	list(&b, "It may not, whatever it tries", d.Never)
	list(&b, "Limits of one call", []string{strings.Join(d.Limits, ", ")})
	list(&b, "It wants on this machine, and enabling it installs nothing", d.Dependencies)
	list(&b, "It may publish the events", d.Events)
	list(&b, "It may store artifacts of the types", d.ArtifactTypes)
	if d.TakesConfig {
		list(&b, "It takes a config", []string{fmt.Sprintf("capabilities.%s.config in .air/shared/%s", d.CapabilityID, settingsFile)})
	}
	if d.Changes != nil {
		fmt.Fprintf(&b, "\n%s\n", d.Changes.summary())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Disclosure) writeClaims(b *strings.Builder) {
	b.WriteString("\nIts publisher says, and nothing proves:\n")
	quoted(b, "name", d.Claims.DisplayName)
	quoted(b, "description", beginning(d.Claims.Description))
	quoted(b, "publisher", d.Claims.Publisher)
	quoted(b, "source", d.Claims.Source)
	quoted(b, "trust level", string(d.Claims.TrustLevel))
	for _, note := range d.Claims.Notes {
		quoted(b, "note", note)
	}
}

func (d Disclosure) writeTools(b *strings.Builder) {
	b.WriteString("\nTools:\n")
	if len(d.Tools) == 0 {
		fmt.Fprintf(b, "  %s.NAME, whatever the name: it declares none\n", d.CapabilityID)
	}
	for _, t := range d.Tools {
		fmt.Fprintf(b, "  %s (version %d, %s)\n", t.Name, t.Version, t.Category)
		fmt.Fprintf(b, "      says: %q\n", beginning(t.Description))
		if len(t.Claims) > 0 {
			fmt.Fprintf(b, "      claims: %s\n", strings.Join(t.Claims, ", "))
		}
		fmt.Fprintf(b, "      may: %s\n", strings.Join(t.May, ", "))
	}
}

// beginning is as much of a description as fits among others. How much is missing it says.
func beginning(s string) string {
	const most = 600
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d MORE characters; air inspect -o json shows them)", string(runes[:most]), len(runes)-most)
}

func line(b *strings.Builder, name, value string) { fmt.Fprintf(b, "  %-12s %s\n", name, value) }

// quoted keeps a publisher's text from looking like a line of AIR's.
func quoted(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "  %-12s %q\n", name, value)
	}
}

func list(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "  - %s\n", item)
	}
}

package capabilities

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/aircoding/air/runtime/permission"
)

const wantDisclosure = `acme-csv 1.2.0
  digest       DIGEST
  source       registry registry.example/acme/csv:1.2.0
  signer       none
  trust level  user_installed  (installed by you; nobody vouches for it)
  runs as      air.v1

Its publisher says, and nothing proves:
  name         "Acme CSV"
  description  "Summarises CSV files."
  publisher    "Acme"
  source       "git https://example.com/acme/csv.git@v1.2.0"
  trust level  "untrusted"
  note         "reads what you name"

Tools:
  acme-csv.summarize (version 1, project)
      says: "Summarise a CSV file."
      claims: title "Summarise", read-only
      may: read
  acme-csv.table.count (version 2, project)
      says: "Count rows of text."
      may: only compute

It may:
  - read in the project: data/**
  - call air's own tools for what it may do, and no other capability's

It may not, whatever it tries:
  - write files
  - run commands
  - use the network
  - use secrets

Limits of one call:
  - memory 32 MiB, time 30s, input 1 MiB, output 4 MiB, 1000 calls of other tools, 4 at once

It wants on this machine, and enabling it installs nothing:
  - not checked: binary:git>=2.30 (binary, required), its manifest would have it installed by "apt-get install git"

It may publish the events:
  - capability.acme-csv.row_done

It may store artifacts of the types:
  - report

It takes a config:
  - capabilities.acme-csv.config in .air/shared/capabilities.yaml
`

func TestDisclosure(t *testing.T) {
	b := openSample(t)
	d := Disclose(Found{Bundle: b, Source: Source{Kind: "registry", RegistryID: "registry.example", Package: "acme/csv", Version: "1.2.0"}, TrustLevel: UserInstalled}, nil)
	var out strings.Builder
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(wantDisclosure, "DIGEST", b.Digest, 1); out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestC3TricksInPublishersText: no text of a publisher reaches a terminal with what
// could move, hide or forge other text.
func TestC3TricksInPublishersText(t *testing.T) {
	const trick = "x\x1b[2J\u202egpj.exe\u200b\u00ad\ufeff\r\n\n\n  signer       Acme Corp\t\u2800\u3164" + "\U000e0041"
	b := openSample(t)
	m := b.Manifest
	m.DisplayName, m.Description, m.Publisher, m.Version = trick, trick+strings.Repeat(" ", 5000)+"end", trick, trick
	m.Source = Source{Kind: "git", URL: trick, Ref: trick}
	m.Tools[0].Description, m.Tools[0].Annotations.Title = trick, trick
	m.Permissions.Notes, m.Permissions.Scopes = []string{trick}, permission.Scopes{Read: []string{trick}}
	m.Dependencies[0].PermissionNotes, m.Dependencies[0].Installer.Commands = trick, []string{trick}
	d := Disclose(Found{Bundle: b, Source: Source{Kind: "local_path", Path: trick}, TrustLevel: UserInstalled}, nil)
	var out strings.Builder
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.String(), string(asJSON)} {
		for _, r := range text {
			if r != '\n' && !unicode.IsPrint(r) || strings.ContainsRune("\u2800\u3164", r) {
				t.Errorf("%q is shown", r)
			}
		}
	}
	signers := 0
	for l := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(l), "signer") {
			signers++
		}
	}
	if signers != 1 {
		t.Errorf("%d lines name a signer:\n%s", signers, out.String())
	}
}

func TestPermissionWords(t *testing.T) {
	for _, c := range []struct {
		name string
		p    PermissionDeclaration
		want string
	}{
		{"nothing", PermissionDeclaration{}, "compute on what it is given, and nothing else"},
		{"whole project", PermissionDeclaration{ReadProject: true, WriteProject: true},
			"read every file of the project but protected ones (.git, .env, keys)|create, change and delete every file of the project but protected ones|call air's own tools for what it may do, and no other capability's"},
		{"inside and outside", PermissionDeclaration{ReadProject: true, Scopes: permission.Scopes{Read: []string{"a/**", "/data/**", "~/x"}, Tools: []string{"fs.read"}}},
			"read in the project: a/**|read OUTSIDE the project: /data/**, ~/x|call the tools: fs.read"},
		{"flags without a scope", PermissionDeclaration{Network: true, ExecuteCommands: true}, "compute on what it is given, and nothing else"},
		{"hosts", PermissionDeclaration{Network: true, Scopes: permission.Scopes{Network: []string{"https://a.b:443"}}},
			"talk to: https://a.b:443|call air's own tools for what it may do, and no other capability's"},
	} {
		if got := strings.Join(permissionWords(&Manifest{Permissions: c.p}), "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestSignerAndVerdictsAreShown(t *testing.T) {
	c := Found{Bundle: openSample(t), TrustLevel: VerifiedPublisher, Signer: &Signer{Name: "acme", KeyID: "sha256:11"}}
	c.Manifest.Dependencies = append(c.Manifest.Dependencies, Dependency{DependencyID: "jq", Kind: "binary", Detector: "binary:jq"}, Dependency{DependencyID: "x", Kind: "service", Detector: "service:localhost:1"})
	d := Disclose(c, []Verdict{
		{DependencyID: "git", State: Incompatible, Detail: "/usr/bin/git 2.20", Disallowed: "it runs a command of its own"},
		{DependencyID: "x", State: Missing, Install: []string{"apt-get install x", "npm install --global y"}},
		{DependencyID: "jq", State: Present, Detail: "/usr/bin/jq", Disallowed: "it runs a command of its own"},
	})
	d.ProposedBy = ".air/shared/capability-lock.json"
	var out strings.Builder
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  signer       acme (sha256:11, a key you trust)\n",
		"  trust level  verified_publisher  (signed by a publisher whom you trust for it)\n",
		"  proposed by  .air/shared/capability-lock.json\n",
		"  - incompatible (/usr/bin/git 2.20) (never installed by air: it runs a command of its own): binary:git>=2.30 (binary, required)",
		"  - present (/usr/bin/jq): binary:jq (binary, optional)\n",
		"  - missing (air doctor --fix would run: apt-get install x; npm install --global y): service:localhost:1 (service, optional)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestLongDescriptionIsCutLoudly: nothing is hidden behind an ellipsis (C4).
func TestLongDescriptionIsCutLoudly(t *testing.T) {
	b := openSample(t)
	b.Manifest.Tools[0].Description = strings.Repeat("Reads it. ", 100) + "Then sends it."
	d := Disclose(Found{Bundle: b}, nil)
	var out strings.Builder
	if err := d.Write(&out); err != nil || !strings.Contains(out.String(), "(414 MORE characters; air inspect -o json shows them)") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if asJSON, err := json.Marshal(d); err != nil || !strings.Contains(string(asJSON), "Then sends it.") {
		t.Errorf("%v\n%s", err, asJSON)
	}
}

func TestDetectorNamesAreNoOptions(t *testing.T) {
	for detector, want := range map[string]bool{
		"npm:typescript": true, "npm:@acme/csv": true, "npm:-g": false, "npm:..": false, "npm:@-x/y": false, "npm:@x/..": false,
		"apt:dpkg-": false, "npm:~x": false, "npm:x.tgz": false, "go:cmd": false, // no manager is given these
		"go:modules.example/x/y": true, "go:modules.example/~me/y.v2": true, "go:-modfile": false, "go:../x": false, "go:x/..": false, "go:x//y": false,
	} {
		if ok := DetectorMistake(detector) == ""; ok != want {
			t.Errorf("%s: accepted %v", detector, ok)
		}
	}
}

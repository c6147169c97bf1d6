package capabilities

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/aircoding/air/internal/text"
)

// Status is one capability as air ls shows it. Texts of publishers are cleaned.
type Status struct {
	ID         string     `json:"capability_id"`
	Version    string     `json:"version,omitempty"`
	Digest     string     `json:"digest,omitempty"` // of a built-in capability there is none
	State      State      `json:"state"`
	Enabled    bool       `json:"enabled"`
	Reason     string     `json:"reason,omitempty"`
	TrustLevel TrustLevel `json:"trust_level"`
	Signer     *Signer    `json:"signer,omitempty"` // of what is not enabled by its record, and of a bounded number only
	Source     string     `json:"source"`
	Tools      []string   `json:"tools,omitempty"`
}

func rowStatus(r row, tools []string, source string) Status {
	s := Status{
		ID: r.ID, Version: text.Line(r.Version, 64), Digest: r.Digest, State: r.State, Enabled: r.Enabled, Reason: r.Reason,
		TrustLevel: r.Place, Source: text.Line(source, 300), Tools: lines(tools, maxToolName),
	}
	if r.Changed {
		s.TrustLevel = Untrusted
	}
	return s
}

// triedStatus is that of an enabled bundle that was just tried.
func (l *Lifecycle) triedStatus(c Found, state State, failure error) Status {
	r := c.row(state)
	r.Enabled = true
	if failure != nil {
		r = r.failed(failure)
	}
	return rowStatus(r, c.Manifest.ToolNames(), c.Source.String()).vouched(c.TrustLevel, c.Signer)
}

// vouched is the status with what was computed of its trust, but for what is not the
// bytes or the signature that were consented to.
func (s Status) vouched(trust TrustLevel, signer *Signer) Status {
	if trust != "" && s.TrustLevel != Untrusted {
		s.TrustLevel, s.Signer = trust, signer
	}
	return s
}

// WriteStatuses writes a table for people.
func WriteStatuses(w io.Writer, all []Status) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CAPABILITY\tVERSION\tSTATE\tTRUST\tDIGEST\tSOURCE")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Version, s.State, s.TrustLevel, shortDigest(s.Digest), s.Source)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	rows := strings.SplitAfter(b.String(), "\n")
	for i, s := range all { // a reason is no row of the table
		if s.Reason != "" {
			rows[i+1] += "  " + s.Reason + "\n"
		}
	}
	_, err := io.WriteString(w, strings.Join(rows, ""))
	return err
}

func shortDigest(digest string) string {
	if len(digest) < 19 {
		return digest
	}
	return digest[:19]
}

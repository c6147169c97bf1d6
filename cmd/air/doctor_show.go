package main

import (
	"fmt"
	"io"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/doctor"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// write shows a checkup to a person.
func (c checkup) write(w io.Writer) {
	var rows [][]string
	add := func(of string, verdicts []capabilities.Verdict) {
		for _, v := range verdicts {
			need := "optional"
			if v.Required {
				need = "required"
			}
			rows = append(rows, []string{of, v.DependencyID, string(v.State), need, v.Detail})
		}
	}
	add("air", c.Air)
	for _, one := range c.Capabilities {
		add(one.ID, one.Dependencies)
		if one.Error != "" {
			rows = append(rows, []string{one.ID, "itself", string(capabilities.Missing), "required", text.Line(one.Error, 300)})
		}
	}
	table(w, []string{"FOR", "WHAT", "STATE", "NEED", "FOUND"}, rows)
	for _, o := range c.Installed {
		if o.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", o.Step, oneLine(o.Error))
		}
	}
	if c.Plan == nil && len(doctor.NewPlan(c.needs).Steps) > 0 {
		fmt.Fprintln(w, "\nair doctor --fix shows what would install what is missing, and asks")
	}
}

// lacking names what is required and not there, as CAPABILITY/DEPENDENCY.
func (c checkup) lacking() []string {
	lacking := []string{}
	add := func(of string, verdicts []capabilities.Verdict) {
		for _, v := range verdicts {
			if v.Required && (v.State == capabilities.Missing || v.State == capabilities.Incompatible) {
				lacking = append(lacking, of+"/"+v.DependencyID)
			}
		}
	}
	add("air", c.Air)
	for _, one := range c.Capabilities {
		add(one.ID, one.Dependencies)
		if one.Error != "" {
			lacking = append(lacking, one.ID)
		}
	}
	return lacking
}

// verdict is the error of a checkup that found something. The answer has it already.
func (c checkup) verdict() error {
	if lacking := c.lacking(); len(lacking) > 0 {
		return &shownError{fault.New(fault.DependencyMissing, "missing", "%s that is required is missing", counted(len(lacking), "thing"))}
	}
	for _, o := range c.Installed {
		if o.Error != "" {
			return &shownError{fault.New(fault.Unavailable, "not_installed", "%s did not work", o.Step)}
		}
	}
	return nil
}

// maxFacts bounds the lists that the event of a checkup holds.
const maxFacts = 100

// facts is a checkup as the event that ends it tells of it.
func (c checkup) facts() map[string]any {
	installed, failed := []string{}, []string{}
	for _, o := range c.Installed {
		if o.Error == "" {
			installed = append(installed, o.String())
		} else {
			failed = append(failed, o.String())
		}
	}
	lacking := c.lacking()
	return map[string]any{
		"missing": lacking[:min(len(lacking), maxFacts)], "missing_count": len(lacking),
		"installed": installed[:min(len(installed), maxFacts)], "failed": failed[:min(len(failed), maxFacts)],
	}
}

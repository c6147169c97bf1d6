package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// rulesReport is what a check of rules found.
type rulesReport struct {
	OK       bool          `json:"ok"`
	Rules    int           `json:"rules"`
	Warnings []ruleWarning `json:"warnings"`
	Cases    []caseResult  `json:"cases"`
	// NotAccepted is the project's file where nobody accepted it as it is.
	NotAccepted string `json:"not_accepted,omitempty"`
}

type ruleWarning struct {
	Tier    string `json:"tier"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// caseFile is a list of calls with what has to be decided about them.
type caseFile struct {
	SchemaVersion int        `json:"schema_version"`
	Cases         []ruleCase `json:"cases"`
}

type ruleCase struct {
	Call   string          `json:"call"`
	Input  json.RawMessage `json:"input"`
	As     string          `json:"as"` // the capability that calls; "" for the person and their agent
	Expect string          `json:"expect"`
	Code   string          `json:"code"`
}

type caseResult struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Call   string `json:"call"`
	As     string `json:"as,omitempty"`
	Expect string `json:"expect"`
	Got    string `json:"got"` // allow, ask, deny, or error
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason"`
	Rule   string `json:"rule,omitempty"`
	OK     bool   `json:"ok"`
}

func (a *app) permissionTestCommand() *cobra.Command {
	var cases string
	c := &cobra.Command{
		Use:   "test [FILE]",
		Short: "Check rule files, and what they decide",
		Long: "Load the rule files that apply here, or FILE alone, and report rules that can never match, are shadowed, have\n" +
			"expired or do not count, as FILE:LINE. The project's file is checked as if it was accepted, FILE as a project's\n" +
			"unless it is your own or the machine's; grants do not count. With --cases each call of a YAML or JSON file is\n" +
			"decided, and compared with what the case expects:\n\n" +
			"    schema_version: 1\n" +
			"    cases:\n" +
			"      - call: fs.write\n" +
			"        input: {path: docs/a.md, content: \"\"}\n" +
			"        expect: allow      # allow, ask or deny\n" +
			"      - call: fs.read\n" +
			"        input: {path: .env}\n" +
			"        as: csv-insight    # a capability that calls; without it you and your agent\n" +
			"        expect: deny\n" +
			"        code: protected_path\n\n" +
			"Nothing runs. Whatever is reported makes the exit code 1.",
		Example: `  air permission test
  air permission test .air/shared/permissions.yaml --cases permissions.test.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := a.checkRules(cmd.Context(), argOr(args, ""), cases)
			if err != nil {
				return err
			}
			if err := a.print(report, report.write); err != nil || report.OK {
				return err
			}
			return fault.New(fault.Conflict, "rules_found_wanting", "%s", report.summary())
		},
	}
	c.Flags().StringVar(&cases, "cases", "", "a file of calls and what has to be decided about them")
	return c
}

func (a *app) checkRules(ctx context.Context, file, cases string) (rulesReport, error) {
	at, err := a.place()
	if err != nil {
		return rulesReport{}, err
	}
	change, err := rulesToCheck(file)
	if err != nil {
		return rulesReport{}, err
	}
	engine, err := a.permissionEngine(at, change)
	if err != nil {
		return rulesReport{}, err
	}
	rules := engine.Rules()
	report := rulesReport{Rules: len(rules), Warnings: ruleWarnings(rules), Cases: []caseResult{}}
	if report.NotAccepted, err = notAccepted(at, rules); err != nil {
		return report, err
	}
	if cases != "" || slices.ContainsFunc(rules, isAboutTool) {
		if err := a.checkCalls(ctx, &report, rules, cases, wiring{rules: change, quiet: true}); err != nil {
			return report, err
		}
	}
	report.OK = len(report.Warnings) == 0 && len(report.mismatches()) == 0
	return report, nil
}

func isAboutTool(r permission.RuleInfo) bool { return strings.Contains(r.Rule, ": tool(") }

// checkCalls checks what needs the tools that there are.
func (a *app) checkCalls(ctx context.Context, report *rulesReport, rules []permission.RuleInfo, cases string, w wiring) error {
	r, err := a.enabledWith(ctx, w)
	if err != nil {
		return err
	}
	misspelt, err := misspeltTools(ctx, r, rules)
	report.Warnings = append(report.Warnings, misspelt...)
	if err != nil || cases == "" {
		return err
	}
	report.Cases, err = checkCases(ctx, cases, r)
	return err
}

// misspeltTools warns of rules about a tool that there is not, where another one has nearly
// its name.
func misspeltTools(ctx context.Context, r *runtime.Registry, rules []permission.RuleInfo) (found []ruleWarning, err error) {
	tools, err := r.Tools(ctx)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, t := range tools {
		known = append(known, t.Name)
	}
	for _, rule := range rules {
		_, name, isTool := strings.Cut(strings.TrimSuffix(rule.Rule, ")"), ": tool(")
		if near := yamldoc.Nearest(name, known); isTool && near != "" && !slices.Contains(known, name) {
			found = append(found, ruleWarning{rule.Tier, rule.File, rule.Line, rule.Rule, fmt.Sprintf("there is no such tool, did you mean %s?", near)})
		}
	}
	return found, nil
}

// notAccepted is the project's own rule file where its rules were checked and nobody accepted
// it as it is.
func notAccepted(at place, rules []permission.RuleInfo) (string, error) {
	own := at.project.Shared(ruleFile)
	if !at.project.Exists() || !slices.ContainsFunc(rules, func(r permission.RuleInfo) bool { return r.File == own }) {
		return "", nil
	}
	_, pending, _, err := pendingFiles(at.project)
	if !slices.ContainsFunc(pending, func(f permission.SharedFile) bool { return f.Path == ruleFile }) {
		own = ""
	}
	return own, err
}

// rulesToCheck changes what rules are loaded from: the project's file counts in full,
// grants do not count, and where a file is named there is no other one.
func rulesToCheck(file string) (func(*permission.Options), error) {
	if file != "" {
		absolute, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(absolute); err != nil {
			return nil, fault.New(fault.InvalidInput, "input_file", "%w", err)
		}
		file = absolute
	}
	return func(o *permission.Options) {
		o.GrantsFile, o.Accepted = "", func([]byte) bool { return true }
		if file == "" {
			return
		}
		own, machine := o.UserFile, o.AdminFile
		o.AdminFile, o.UserFile, o.ProjectFile = "", "", ""
		switch file {
		case own:
			o.UserFile = file
		case machine:
			o.AdminFile = file
		default:
			o.ProjectFile = file
		}
	}, nil
}

func ruleWarnings(rules []permission.RuleInfo) []ruleWarning {
	found := []ruleWarning{}
	for _, r := range rules {
		for _, message := range []string{r.Inactive, r.Warning} {
			if message != "" {
				found = append(found, ruleWarning{r.Tier, r.File, r.Line, r.Rule, message})
			}
		}
	}
	return found
}

const maxCaseFile = 1 << 20

func checkCases(ctx context.Context, file string, r *runtime.Registry) ([]caseResult, error) {
	content, err := regular.Read(file, maxCaseFile, true)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "input_file", "reading cases: %w", err)
	}
	cases, lines, err := readCases(file, content)
	if err != nil {
		return nil, err
	}
	results := []caseResult{}
	for i, c := range cases {
		result := caseResult{File: file, Line: lines[i], Call: c.Call, As: c.As, Expect: c.Expect}
		if err := result.decide(ctx, r, c); err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// readCases returns the cases of a file with their lines.
func readCases(file string, content []byte) ([]ruleCase, []int, error) {
	var doc caseFile
	_, at, err := yamldoc.Decode(content, &doc)
	var located *yamldoc.Error
	switch {
	case errors.As(err, &located) && located.Line > 0:
		return nil, nil, badCase(file, located.Line, "%s", located.Reason)
	case err != nil:
		return nil, nil, fault.New(fault.InvalidInput, "bad_cases", "%s: %w", file, err)
	case at["/schema_version"] == 0:
		return nil, nil, badCase(file, 1, "schema_version: 1 is missing")
	case doc.SchemaVersion != 1:
		return nil, nil, badCase(file, at["/schema_version"], "schema_version is %d, this air knows 1", doc.SchemaVersion)
	}
	lines := make([]int, len(doc.Cases))
	for i := range doc.Cases {
		c := &doc.Cases[i]
		lines[i] = at["/cases/"+strconv.Itoa(i)]
		if len(c.Input) == 0 {
			c.Input = json.RawMessage(`{}`)
		}
		if c.Call == "" || !slices.Contains([]string{"allow", "ask", "deny"}, c.Expect) {
			return nil, nil, badCase(file, lines[i], "a case needs call, the name of a tool, and expect: allow, ask or deny")
		}
	}
	return doc.Cases, lines, nil
}

func badCase(file string, line int, format string, args ...any) error {
	return fault.New(fault.InvalidInput, "bad_cases", "%s:%d: %s", file, line, fmt.Sprintf(format, args...)).
		WithHint("air permission test --help shows the form of cases")
}

// decide fills in what is decided about a case. Only the end of ctx is an error.
func (c *caseResult) decide(ctx context.Context, r *runtime.Registry, wanted ruleCase) error {
	var as []string
	if wanted.As != "" {
		as = []string{wanted.As}
	}
	explanations, err := r.ExplainAs(ctx, runtime.Call{Tool: wanted.Call, Input: wanted.Input}, as)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.Got = permission.Allow.String()
	if err != nil {
		c.refuse(err)
	}
	codes := []string{c.Code}
	if strictest := strictestOf(explanations); len(strictest) > 0 {
		first := strictest[0]
		c.Got, c.Code, c.Reason, c.Rule = first.Verdict.String(), first.Code, first.Reason, first.Rule
		codes = nil
		for _, d := range strictest {
			codes = append(codes, d.Code)
		}
	}
	c.OK = c.Got == c.Expect && (wanted.Code == "" || slices.Contains(codes, wanted.Code))
	if !c.OK && c.Got == c.Expect {
		c.Reason = fmt.Sprintf("the code is %s, not %s", cmp.Or(c.Code, "none"), wanted.Code)
	}
	return nil
}

// refuse takes an error of a call that was not planned: some are what is decided.
func (c *caseResult) refuse(err error) {
	c.Got, c.Reason = "error", err.Error()
	var denied *permission.DeniedError
	if errors.As(err, &denied) {
		c.Got, c.Code, c.Reason, c.Rule = denied.Decision.Verdict.String(), denied.Decision.Code, denied.Decision.Reason, denied.Decision.Rule
		return
	}
	var known *fault.Error
	if !errors.As(err, &known) {
		return
	}
	c.Code = known.Code
	for _, m := range permission.Codes() {
		if m.Code == known.Code {
			c.Got = m.Verdict.String()
		}
	}
}

// strictestOf are those of the final decisions with the verdict that counts for the call.
func strictestOf(explanations []permission.Explanation) []permission.Decision {
	var strictest []permission.Decision
	for _, e := range explanations {
		switch {
		case len(strictest) == 0 || e.Final.Verdict < strictest[0].Verdict:
			strictest = []permission.Decision{e.Final}
		case e.Final.Verdict == strictest[0].Verdict:
			strictest = append(strictest, e.Final)
		}
	}
	return strictest
}

func (r rulesReport) mismatches() []caseResult {
	return slices.DeleteFunc(slices.Clone(r.Cases), func(c caseResult) bool { return c.OK })
}

func (r rulesReport) summary() string {
	parts := []string{counted(r.Rules, "rule"), counted(len(r.Warnings), "warning")}
	if len(r.Cases) > 0 {
		parts = append(parts, counted(len(r.Cases), "case"), counted(len(r.mismatches()), "surprise"))
	}
	return strings.Join(parts, ", ")
}

func (r rulesReport) write(w io.Writer) {
	for _, found := range r.Warnings {
		fmt.Fprintf(w, "%s:%d: %s: %s\n", found.File, found.Line, oneLine(found.Rule), oneLine(found.Message))
	}
	for _, c := range r.mismatches() {
		fmt.Fprintf(w, "%s:%d: %s: expected %s, got %s: %s\n", c.File, c.Line, oneLine(c.Call), c.Expect, c.Got, text.Line(c.Reason, 300))
		if c.Rule != "" {
			fmt.Fprintf(w, "  by %s\n", oneLine(c.Rule))
		}
	}
	if r.NotAccepted != "" {
		fmt.Fprintf(w, "%s: not accepted as it is: what it allows does not count yet (air accept)\n", oneLine(r.NotAccepted))
	}
	fmt.Fprintln(w, r.summary())
}

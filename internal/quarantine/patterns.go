package quarantine

import (
	"slices"
	"strings"
	"sync"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/literal"
)

// pattern is one kind of instruction. Expressions are for normal texts.
type pattern struct {
	name string
	// anchors are texts of which each match of the expression has at least one, with a space
	// for a line end.
	anchors []string
	// also are texts of which one is near each match: they are quick to look for.
	also []string
	// text is the expression.
	text string
	// near are expressions that must fit too, at most nearBytes behind where the match begins.
	near []string
	// unless is an expression for the text around a match that makes a statement of it: it
	// says of something what it does, or of a program what it did. A zero byte stands in front
	// of the first word of the match.
	unless string
}

const (
	// start is where an order begins, as against a statement about somebody.
	start = `(?:^|[\n.!?:;,(>|-] ?|\b(?:please|now|then|must|also|immediately|simply|agent|assistant|therefore|so|and|ok|okay|important) )(?:\d+[.)] )?`
	// must is an order in other words.
	must  = `\b(?:you|agent|assistant|ai|model|claude|gpt) (?:must|should|have to|need to|are to|shall|are (?:now )?(?:allowed|authori[sz]ed|instructed|required|permitted) to) (?:now |always |immediately )?`
	order = `(?:` + start + `|` + must + `)`
	// flags are options of a command, with their values, and what was left out.
	flags = `(?: --?[a-z][a-z-]{0,14}(?:[ =][!-~]{1,72})?| \.\.\.){0,2}`
	// entry is what the history of a program says by the number of an issue.
	entry = `(?:fix(?:es|ed)?|clos(?:es|ed)|resolv(?:es|ed)) #\d{1,7}: \x00|\x00[^\n]{0,300}\(#\d{1,7}\)(?:\n|$)`
	// person is who decides.
	person = `(?:user|human|person|operator|owner|developer|administrator|admin)`
)

// patterns is the documented set, each kind under a comment that says what it is.
func patterns() []pattern {
	return []pattern{
		// Instructions that the reader had before are to count no more.
		{name: "ignore-instructions", anchors: []string{"instructions", "prompts", "directives", "guidelines", "guardrails", "programming", "restrictions", "rules"},
			also:   []string{"ignore", "disregard", "forget", "override", "follow", "obey", "attention"},
			text:   `\b(?:ignore|disregard|forget|override|do not follow|don't follow|do not obey|stop following|stop obeying|pay no attention to)\s(?:(?:all|any|every|each|of|the|these|those|its|about|and)\s){0,4}(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing|system|developer|safety|your|my previous)\s(?:\w+\s){0,2}(?:instructions|prompts|directives|guidelines|guardrails|programming|restrictions|rules)\b`,
			unless: `\b(?:where|when|why|how|whether) (?:(?:the|an?|some|all|most) )?(?:agents?|models?|assistants?|llms?|it|they) (?:(?:may|might|can|could|would|will|sometimes|often) )?\x00`},
		{name: "ignore-instructions", anchors: []string{"instructions above", "instructions before", "everything above", "everything before", "you were told", "you have been told", "been given"},
			also: []string{"ignore", "disregard", "forget"},
			text: `\b(?:ignore|disregard|forget)\s(?:(?:all|any|of|the|your|these|those)\s){0,3}(?:instructions (?:above|before)|everything (?:above|before)|(?:everything|anything|all|what|whatever)(?: that)? you (?:were told|have been told|have been given))`},
		{name: "replace-prompt", anchors: []string{"system prompt", "developer prompt", "system message", "developer message", "system instructions", "developer instructions"},
			also: []string{"ignore", "disregard", "forget", "override", "replace", "overwrite", "change", "rewrite", "new ", "updated ", "revised ", "real ", "actual "},
			text: `\b(?:ignore|disregard|forget)\s(?:the|your|its|this|any|all)\s(?:\w+\s){0,2}(?:system|developer) (?:prompt|message|instructions)\b|\b(?:override|replace|overwrite|change|rewrite)\syour\s(?:\w+\s){0,2}(?:system|developer) (?:prompt|message|instructions)\b|\b(?:new|updated|revised|real|actual) (?:system|developer) (?:prompt|message|instructions) ?:`},
		{name: "replace-prompt", anchors: []string{"instructions are", "system prompt is"},
			also: []string{"your "},
			text: `\byour (?:new|real|actual|true|updated) (?:instructions are|system prompt is)\b`},
		// A voice that is not the capability's, and speaks of policy.
		{name: "false-voice", anchors: slices.Concat([]string{"system", "[inst", "[/inst", "<<sys"},
			pairs([]string{"developer", "admin", "results", "result", "air", "runtime", "policy"}, []string{">", " >", "]"}),
			pairs([]string{"developer ", "admin ", "air ", "runtime "}, []string{"message", "prompt", "not", "override"}),
			pairs([]string{"<|"}, strings.Split("abcdefghijklmnopqrstuvwxyz ", ""))),
			also: []string{"permission", "approv", "consent", "sandbox", "confirm", "policy", "policies", "trusted mode", "restriction", "guardrail", "without asking", "without prompting", "allow all", "allow every"},
			text: `</?(?:system|system[-_ ](?:message|prompt|reminder|override|notice)|developer|admin|tool[-_ ]results?|function[-_ ]results?|air|(?:air[-_ ])?(?:policy|runtime|system)) ?>|<\|[a-z ][a-z_ ]{1,19}\|>|<<sys>>|\[/?(?:inst|(?:system|developer|admin|air|runtime) (?:message|prompt|note|notice|override))\]|\[/?(?:system|developer|admin|air|runtime)\] ?:|(?:^|\n)#{0,6} ?(?:system|air|runtime|developer) (?:message|prompt|note|notice|override) ?:`,
			near: []string{
				`permission|approv|consent|sandbox|confirm|polic(?:y|ies)|trusted mode|restriction|guardrail|without (?:asking|prompting)|allow all|allow every`,
				`\byou (?:may|must|can|shall|now|have (?:full|been)|are (?:now|authori|allowed|permitted|free|to))|\b(?:do not|don't|never) (?:ask|prompt|wait|confirm|refuse|tell)|\b(?:ignore|disregard|approve|grant|disable|bypass|skip|allow all|allow every|run all|execute all|proceed)\b|\bthe ` + person + ` (?:has|already)|\b(?:is|are|have been|has been) (?:lifted|suspended|disabled|granted|approved|waived|pre-?approved)`,
			}},
		{name: "false-voice", anchors: []string{"= once", "=once"}, // the choices of the runtime's own question
			also: []string{"for this session", "for this project", "= deny", "=deny"},
			text: `\bo ?= ?once\b.{0,120}(?:for this session|for this project|= ?deny)`},
		// Commands that change what is allowed.
		{name: "air-command", anchors: []string{"--yes"},
			also: []string{"accept", "enable", "update"},
			text: `\bair` + flags + ` (?:accept|enable|update)` + flags + `(?: [!-~]{1,72})?` + flags + ` --yes\b|` +
				`\bair` + flags + ` --yes(?:=\w{1,5})?(?: [!-~]{1,72})?` + flags + ` (?:accept|enable|update)\b`},
		{name: "air-command", anchors: []string{"grant", "trust add", "secret"},
			also: []string{"air "},
			text: `\bair` + flags + ` permission` + flags + ` grant` + flags + ` '?(?:allow: ?)?(?:read|create|overwrite|delete|write|run|env|net|signal|secret|tool)\(|` +
				order + `(?:run|execute|type|use|call|invoke|issue|enter)\s(?:the\s)?(?:following\s)?(?:command)?\s?:?\s?'?(?:[a-z0-9./~_-]*/)?air` + flags + ` (?:permission` + flags + ` grant|trust add|secret` + flags + ` (?:set|rm))\b`},
		{name: "trusted-mode", anchors: []string{"trusted"},
			also:   []string{"--no-prompt", "air_mode", "--mode", "trusted mode"},
			text:   `--no-prompt\b.{0,60}\btrusted\b|\btrusted\b.{0,60}--no-prompt\b|\bair_mode ?= ?'?trusted\b|--mode[ =]'?trusted\b|` + order + `(?:switch|change|set|go|put|enter)\s(?:\w+\s){0,5}trusted mode\b`,
			unless: `\x00air_mode ?= ?'?trusted'? (?:is|was|has|had|means|would|may|can)\b`},
		{name: "edit-permissions", anchors: []string{"permissions.y", "capabilities.y"},
			also: []string{"edit ", "modify ", "change ", "overwrite ", "rewrite ", "open ", "append ", "write to ", "add "},
			text: order + `(?:edit|modify|change|overwrite|rewrite|open|append to|write to|add [^\n]{3,80} to)\s(?:the\s)?(?:file\s)?(?:[^\s]{0,100}/)?(?:permissions|capabilities)\.ya?ml\b`,
			near: []string{`\b(?:allow|grant|permit|trust|disable|unrestrict|bypass|deny|approv|everything|all)|run\(|write\(`}},
		// Consent that somebody else is to give, or is said to have given.
		{name: "approve-request", anchors: []string{"approve", "authori", "grant"},
			also: []string{"permission ", "approval ", "consent ", "tool "},
			text: order + `(?:approve|grant|authori[sz]e)\s(?:(?:this|the|that|all|any|every|each|my|our|its|of|following|pending|next|these|those|further|future)\s){1,3}(?:\w+\s){0,1}(?:permission|approval|consent|tool)\s(?:requests?|prompts?|calls?|questions?|dialogs?)\b`},
		{name: "approve-request", anchors: []string{"prompt", "question", "request", "dialog"},
			also: []string{"answer", "reply", "respond", "type ", "press ", "enter ", "choose ", "select ", "say "},
			text: order + `(?:answer|reply|respond|type|press|enter|choose|select|say)\s(?:with\s)?'?(?:yes|y|o|p|always|allow|allow always|always allow|approve|once)'?,?\s(?:\w+\s){0,4}(?:permission|approval|consent|air|air's)\s(?:\w+\s)?(?:prompts?|questions?|requests?|dialogs?)\b`},
		{name: "claimed-consent", anchors: []string{"approved", "authori", "consented", "waived"},
			also: []string{" all ", " every ", " any ", " these ", " further ", " future ", "already "},
			text: `\b(?:the|your|my)\s` + person + `\s(?:has|have)?\s?(?:(?:already|previously|explicitly)\s)*(?:approved|authori[sz]ed|pre-?approved|consented to|waived)\s(?:(?:all|every|any|these|further|future)\s){1,3}(?:\w+\s){0,2}(?:tools?|commands?|calls?|actions?|requests?|effects?|operations?|access|prompts?)\b|\balready (?:approved|authori[sz]ed) this (?:call|command|action|tool)\b`},
		{name: "grant-itself", anchors: []string{"yourself", "this capability", "this tool"},
			also: []string{"grant ", "give ", "allow "},
			text: order + `(?:grant|give|allow)\s(?:yourself|this (?:capability|tool))\s(?:\w+\s){0,3}(?:access|permissions?|rights|privileges|everything)\b`},
		// A person who is to be kept out of it.
		{name: "do-not-ask", anchors: []string{"ask", "prompt", "consult", "check with", "checking with", "bother"},
			also:   []string{"do not ", "don't ", "never ", "no need ", "not need", "need not ", "not have to", "don't have to", "stop ", "avoid "},
			text:   order + `(?:do not|don't|never|no need to|there is no need to|you need not|you do not need to|you don't need to|you do not have to|you don't have to|stop|avoid)\s(?:ever\s)?(?:ask|asking|prompt|prompting|consult|consulting|check with|checking with|bother|bothering)\s(?:the|a|your|any)\s` + person + `\s(?:\w+\s){0,4}?(?:permission|approval|consent|confirmation|authori[sz]ation|before|first|again)\b`,
			unless: entry},
		{name: "do-not-ask", anchors: []string{"approval", "permission", "consent", "confirmation"},
			also: []string{"do ", "don't ", "never ", "need "},
			text: order + `(?:do not|don't|never|no need to|you need not|you do not need|you don't need)\s(?:to\s)?(?:wait for|request|seek|ask for|need|require)\s(?:the|a|your)\s` + person + `'s\s(?:\w+\s){0,2}(?:approval|permission|consent|confirmation)\b`},
		{name: "do-not-ask", anchors: []string{"without asking", "without prompting", "without consulting", "without notifying", "without informing", "without telling"},
			also: []string{"proceed", "continue", "act", "go ahead", "carry on", "do ", "run ", "execute ", "apply ", "call ", "use ", "delete ", "push "},
			text: order + `(?:proceed|continue|act|go ahead|carry on|(?:do|run|execute|apply|call|use|delete|push)\s(?:(?:it|this|that|these|them|the|all|any|every|following|next|command|commands|tool|tools|call|calls|action|actions|so)\s?){1,5})(?:\s?(?:with|and|to)?\s?(?:\w+\s){0,4}?)\s?without (?:asking|prompting|consulting|notifying|informing|telling)\s(?:the|your|a)\s` + person + `\b`},
		{name: "hide", anchors: []string{"tell", "mention", "reveal", "inform", "alert", "notify", "warn", "disclose"},
			also: []string{"do not ", "don't ", "never "},
			text: order + `(?:do not|don't|never)\s(?:tell|inform|alert|notify|warn|(?:mention|reveal|disclose)\s(?:this|it|that|any of this)\sto)\s(?:the|your)\s` + person + `(?:\s(?:about (?:this|it|that)|that you|this|what you|of this|anything)\b|[.!;,\n]|$)`},
		// Walls that are to come down.
		{name: "no-sandbox", anchors: []string{"sandbox"},
			also: []string{"without ", "outside ", "escape ", "bypass ", "break out", "leave ", "disable ", "turn off", "switch off"},
			text: order + `(?:re-?run|run|execute|retry|start|launch|call|do)\s(?:(?:it|this|that|them|these|the|all|every|your|my|our|any|next|following|above|tool|tools|call|calls|command|commands|everything|again|shell|code)\s){0,4}(?:without|outside|outside of)\s(?:(?:the|a|any|its|your|air's)\s)?sandbox(?:ing)?\b|` +
				order + `(?:escape|bypass|break out of|leave|disable|turn off|switch off)\s(?:your|air's|the air|the runtime's)\s(?:\w+\s)?sandbox\b|` +
				order + `(?:escape|bypass|break out of|disable|turn off|switch off)\sthe sandbox(?:\s(?:and|then|first|now|before|for (?:this|the next|all))\b|[.!;,\n]|$)`},
		{name: "disable-policy", anchors: []string{"permission engine", "permission system", "permission layer", "permission rules", "permission prompts", "policy engine", "runtime polic", "runtime's polic", "approval prompt", "guardrails", "safety ", "air polic", "air's polic"},
			also: []string{"disable ", "turn off", "switch off", "bypass ", "circumvent ", "override ", "evade ", "work around", "deactivate ", "ignore "},
			text: order + `(?:disable|turn off|switch off|bypass|circumvent|override|evade|work around|deactivate|ignore)\s(?:(?:the|your|air's|its|all|any|every|this|of)\s){1,3}(?:\w+\s){0,2}?(?:permission (?:engine|system|layer|rules|prompts)|policy engine|runtime(?:'s)? polic(?:y|ies)|approval prompts?|guardrails|safety (?:rules|polic(?:y|ies)|checks)|air(?:'s)? polic(?:y|ies))\b`},
		{name: "lifted-policy", anchors: []string{"no longer", " mode", "lifted", "suspended", "waived", "overridden", "do not apply", "don't apply"},
			also: []string{"you are ", "polic", "restriction", "guardrails", "safety ", "permission rules"},
			text: `\byou are no longer (?:bound|restricted|limited|constrained) by\b|\byou are (?:now )?(?:in|running in|operating in) (?:an? )?(?:god|unrestricted|trusted|dan|jailbreak|bypass) mode\b|\b(?:your|all|the|air's|the runtime's)\s(?:\w+\s)?(?:policy|policies|restrictions?|guardrails|safety (?:rules|guidelines)|permission rules)\s(?:no longer (?:applies|apply)|(?:have|has) been (?:lifted|suspended|waived|overridden)|(?:is|are) (?:now )?(?:lifted|suspended|waived|overridden)|(?:do not|don't) apply (?:to (?:you|this)|here|now))\b`},
	}
}

// nearBytes is how far behind the beginning of a match what is near may begin.
const nearBytes = 400

// pairs are all the beginnings with all the ends.
func pairs(begins, ends []string) (all []string) {
	for _, begin := range begins {
		for _, end := range ends {
			all = append(all, begin+end)
		}
	}
	return all
}

// compiled is a pattern made ready.
type compiled struct {
	name   string
	also   []string
	text   *lazyregexp.Regexp
	near   []*lazyregexp.Regexp
	unless *lazyregexp.Regexp // nil for none
}

func compile(p pattern) compiled {
	c := compiled{name: p.name, also: p.also, text: lazyregexp.New(p.text)}
	for _, near := range p.near {
		c.near = append(c.near, lazyregexp.New(near))
	}
	if p.unless != "" {
		c.unless = lazyregexp.New(p.unless)
	}
	return c
}

// set are patterns with what finds their anchors.
type set struct {
	anchors  *literal.Set
	byAnchor []int // the pattern of each anchor
	patterns []compiled
}

func newSet(patterns []pattern) *set {
	s := &set{}
	var texts []literal.Text
	for i, p := range patterns {
		s.patterns = append(s.patterns, compile(p))
		for _, anchor := range p.anchors {
			texts = append(texts, literal.Text{Text: anchor})
			s.byAnchor = append(s.byAnchor, i)
		}
	}
	s.anchors = literal.New(texts)
	return s
}

var theSet = sync.OnceValue(func() *set { return newSet(patterns()) })

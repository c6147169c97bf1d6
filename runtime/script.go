package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

const (
	maxScript  = 16 << 20 // of one script that a command would execute
	maxScripts = 64 << 20 // of all that one call would
)

// binder binds the commands of one plan to what the scripts that they execute hold now.
type binder struct {
	files *files
	bound map[string]script // by canonical path
	read  int64
}

const notThere = "is not there yet"

type script struct {
	sha256 string // hex; "" outside the project
	why    string // it could not be read
}

// bind fills in the digest of a script of the project. One outside is the machine's or
// the person's and is left out. One that could not be read could be anything: its command
// is opaque.
func (b *binder) bind(e permission.Effect) permission.Effect {
	named := e.Script
	e.Script, e.ScriptSHA256 = "", ""
	if e.Kind != permission.Run || named == "" {
		return e
	}
	switch shown, s := b.find(named); {
	case s.why == notThere && e.Again:
	case s.why != "":
		return opaque(e, fmt.Sprintf("the script %.200q that it executes %s", shown, s.why))
	case s.sha256 != "":
		e.Script, e.ScriptSHA256 = shown, s.sha256
	}
	return e
}

// ScriptDigest is the hex digest of what a script of the project holds now, to which
// grants of commands that execute it are bound.
func (r *Registry) ScriptDigest(file string) (string, error) {
	b := binder{files: &files{registry: r, run: &run{}}}
	switch shown, s := b.find(file); {
	case s.why != "":
		return "", fault.New(fault.InvalidInput, "input_file", "the script %.200q %s", shown, s.why)
	case s.sha256 == "":
		return "", fault.New(fault.InvalidInput, "not_in_project", "%.200q is no file of the project: grants are bound to the content of those alone", file)
	default:
		return s.sha256, nil
	}
}

// find is the script of a name, with the path that it is shown by.
func (b *binder) find(named string) (shown string, s script) {
	paths := b.files.registry.config.Paths
	at, err := paths.Resolve(permission.Effect{Kind: permission.Read, Target: named})
	if err != nil {
		return named, script{why: "leads to nothing that could be read"}
	}
	shown = paths.Show(at.Target)
	if filepath.IsAbs(shown) && at.Class != permission.ClassProject {
		return shown, script{}
	}
	return shown, b.script(at.Target)
}

func opaque(e permission.Effect, why string) permission.Effect {
	e.Risk, e.Why = permission.RiskOpaque, why
	return e
}

func (b *binder) script(canonical string) script {
	if known, ok := b.bound[canonical]; ok {
		return known
	}
	if b.bound == nil {
		b.bound = map[string]script{}
	}
	s := b.hash(canonical)
	b.bound[canonical] = s
	return s
}

func (b *binder) hash(canonical string) script {
	file, err := b.files.openAgain(canonical)
	if fault.Is(err, fault.NotFound) {
		return script{why: notThere}
	}
	if err != nil {
		return script{why: "cannot be read"}
	}
	defer file.Close()
	limit := min(maxScript, maxScripts-b.read)
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, limit+1))
	b.read += n
	switch {
	case err != nil:
		return script{why: "cannot be read"}
	case n > limit:
		return script{why: fmt.Sprintf("is larger than the %d bytes that are read of it", limit)}
	}
	return script{sha256: hex.EncodeToString(sum.Sum(nil))}
}

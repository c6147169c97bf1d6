package artifact

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
)

var (
	typeForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
	idForm   = regexp.MustCompile(`^art_` + ids.Pattern + `$`)
	extForm  = regexp.MustCompile(`^\.[a-z0-9]{1,10}$`)
)

const maxMetadata = 64 << 10

// check refuses what cannot be part of a path or a record (case G24).
func (n New) check() error {
	if !typeForm.MatchString(n.Type) {
		return fault.New(fault.InvalidInput, "artifact_type", "artifact type %.64q: a lower-case letter, then up to 31 of a-z 0-9 _ - are wanted", n.Type)
	}
	for _, f := range []struct {
		field, value string
		max          int
	}{
		{"name", n.Name, 255},
		{"media type", n.MediaType, 127},
		{"run id", n.RunID, 128},
		{"owner", n.Owner.text(), 192},
		{"entity type", n.EntityType, 128},
		{"entity id", n.EntityID, 255},
	} {
		if why := notLine(f.value, f.max); why != "" {
			return fault.New(fault.InvalidInput, "artifact_field", "%s of the artifact, %.64q: %s", f.field, f.value, why)
		}
	}
	return n.checkMetadata()
}

// notLine says why a text is no single line of at most max bytes.
func notLine(text string, max int) string {
	switch {
	case len(text) > max:
		return "it is too long"
	case !utf8.ValidString(text):
		return "it is not UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "it has control characters"
	}
	return ""
}

func (n New) checkMetadata() error {
	if len(n.Metadata) == 0 {
		return nil
	}
	if err := canon.Check(n.Metadata, canon.Limits{Bytes: maxMetadata}); err != nil {
		return fault.New(fault.InvalidInput, "artifact_metadata", "metadata of the artifact: %w", err)
	}
	if strings.TrimLeft(string(n.Metadata), " \t\r\n")[0] != '{' {
		return fault.New(fault.InvalidInput, "artifact_metadata", "metadata of the artifact is not an object")
	}
	return nil
}

// extension is for people who open the file: the name's own, else one for the type.
func (n New) extension() string {
	if ext := strings.ToLower(filepath.Ext(n.Name)); extForm.MatchString(ext) {
		return ext
	}
	mediaType, _, _ := strings.Cut(n.MediaType, ";")
	switch mediaType {
	case "application/json":
		return ".json"
	case "text/csv":
		return ".csv"
	case "text/html":
		return ".html"
	case "text/markdown":
		return ".md"
	case "image/png":
		return ".png"
	}
	if strings.HasPrefix(mediaType, "text/") {
		return ".txt"
	}
	return ".bin"
}

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
)

const maxKeptSignatures = 8 << 20

// keptSignaturesFile lies beside the downloads: what a registry said of a digest.
func keptSignaturesFile(at place, digest string) string {
	return filepath.Join(downloads(at), "signatures", strings.TrimPrefix(digest, "sha256:")+".json")
}

// keptSignatures are those that a registry had when it was last asked; known is false where
// none was. A damaged file is as none.
func keptSignatures(at place, digest string) (signatures [][]byte, known bool) {
	text, err := regular.Read(keptSignaturesFile(at, digest), maxKeptSignatures, false)
	if err != nil || json.Unmarshal(text, &signatures) != nil {
		return nil, false
	}
	return signatures, true
}

func keepSignatures(at place, digest string, signatures [][]byte) error {
	text, err := json.Marshal(signatures)
	if err != nil {
		return err
	}
	file := keptSignaturesFile(at, digest)
	return fault.IO("writing "+filepath.Base(file), atomicfile.Write(file, text, 0o600))
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
)

const maxKeptSignatures = 8 << 20

// keptSignaturesFile lies beside the downloads: what a repository had of a digest.
func keptSignaturesFile(at place, repository, digest string) string {
	of := strings.TrimPrefix(canon.Digest([]byte(repository)), "sha256:")[:16]
	return filepath.Join(downloads(at), "signatures", strings.TrimPrefix(digest, "sha256:")+"-"+of+".json")
}

// keptSignatures are those that were found anywhere. known is false where the repository
// was not asked yet: another one may have none.
func keptSignatures(at place, repository, digest string) (signatures [][]byte, known bool) {
	own := keptSignaturesFile(at, repository, digest)
	entries, err := os.ReadDir(filepath.Dir(own))
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), strings.TrimPrefix(digest, "sha256:")+"-") {
			continue
		}
		var some [][]byte
		text, err := regular.Read(filepath.Join(filepath.Dir(own), e.Name()), maxKeptSignatures, false)
		if err != nil || json.Unmarshal(text, &some) != nil {
			continue // damaged: as if nobody had been asked
		}
		signatures, known = append(signatures, some...), known || e.Name() == filepath.Base(own)
	}
	return signatures, known
}

func keepSignatures(at place, repository, digest string, signatures [][]byte) error {
	text, err := json.Marshal(signatures)
	if err != nil {
		return err
	}
	file := keptSignaturesFile(at, repository, digest)
	return fault.IO("writing "+filepath.Base(file), atomicfile.Write(file, text, 0o600))
}

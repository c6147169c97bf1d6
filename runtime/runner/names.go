package runner

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// eachName goes through a folder a part at a time, however large it is.
func eachName(f *os.File, visit func(fs.DirEntry) error) error {
	for {
		entries, err := f.ReadDir(512)
		for _, entry := range entries {
			if err := visit(entry); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return cannotLook(f.Name(), err)
		}
	}
}

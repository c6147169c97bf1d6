//go:build !linux

package runtime

import (
	"os"

	"github.com/aircoding/air/runtime/backup"
)

// attributes are none here.
func attributes(*os.File) []backup.Attribute { return nil }

func setAttributes(*os.File, []backup.Attribute) {}

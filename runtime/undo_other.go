//go:build !linux

package runtime

import "os"

// attributes are none here.
func attributes(*os.File) map[string][]byte { return nil }

func setAttributes(*os.File, map[string][]byte) {}

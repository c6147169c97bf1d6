//go:build !linux

package permission

import "errors"

func unlockPTY(int) (string, error) {
	return "", errors.New("pseudo-terminals are only opened on Linux")
}

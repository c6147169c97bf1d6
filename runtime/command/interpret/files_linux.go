package interpret

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// openExactly opens a path that holds no links, folder by folder.
func openExactly(file string, flag int) (*os.File, error) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	folders := strings.Split(strings.TrimPrefix(file, "/"), "/")
	last := len(folders) - 1
	for _, folder := range folders[:last] {
		next, err := unix.Openat(at, folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		unix.Close(at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	defer unix.Close(at)
	name := folders[last]
	if name == "" {
		name = "."
	}
	fd, err := unix.Openat(at, name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), file), nil
}

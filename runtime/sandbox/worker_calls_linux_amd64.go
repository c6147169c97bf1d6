package sandbox

import "golang.org/x/sys/unix"

const threadPointer = unix.CLONE_SETTLS

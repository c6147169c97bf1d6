package sandbox

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// packetBytes bounds one message. A system's default buffer of a socket is larger.
	packetBytes = 192 << 10
	// textBytes bounds a text in a failure.
	textBytes = 16 << 10
	// layersBytes bounds what is said of all layers, and layerBytes what is said of one besides
	// its target.
	layersBytes, layerBytes = 128 << 10, 512
)

// initMessage is what the init says to the host: once when the program runs, once when it
// has ended; or instead why not.
type initMessage struct {
	Failure     *initFailure
	Confinement *Confinement
	Ended       bool
	Status      int // of wait(2)
	CPU         time.Duration
	Uncovered   string // a target that lost its mount
}

// initFailure is an error on its way to the host.
type initFailure struct {
	Step    string
	Mount   *Mount // the mount that could not be made
	Program bool   // the program could not be started, in a sandbox that stood
	Text    string
	Errno   syscall.Errno // 0 when the kernel gave none
}

// say, in the init, sends the host one message, with a descriptor unless that is -1.
func say(m initMessage, descriptor int) error {
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(m); err != nil {
		return err
	}
	var rights []byte
	if descriptor >= 0 {
		rights = unix.UnixRights(descriptor)
		defer unix.Close(descriptor)
	}
	for {
		err := unix.Sendmsg(controlFD, data.Bytes(), rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

func sayFailure(err error) int {
	f := &initFailure{Text: err.Error()}
	var (
		mount       *MountError
		program     *exec.Error
		unavailable *UnavailableError
	)
	switch {
	case errors.As(err, &mount):
		f.Mount, err = &mount.Mount, mount.Err
	case errors.As(err, &program):
		f.Program, f.Step, err = true, program.Name, program.Err
	case errors.As(err, &unavailable):
		f.Step, err = unavailable.Step, unavailable.Err
	}
	f.Text = err.Error()
	if errors.As(err, &f.Errno) {
		f.Text = strings.TrimSuffix(strings.TrimSuffix(f.Text, f.Errno.Error()), ": ")
	}
	f.Step, f.Text = f.Step[:min(len(f.Step), textBytes)], f.Text[:min(len(f.Text), textBytes)]
	_ = say(initMessage{Failure: f}, -1) // a host that is gone needs no word
	return 1
}

var errSilent = errors.New("its init ended without a word")

// receive, on the host, reads one message, and the listener that may come with it.
func (p *Process) receive() (initMessage, error) {
	var m initMessage
	data, rights := make([]byte, packetBytes), make([]byte, unix.CmsgSpace(4))
	n, rn, flags, _, err := p.control.ReadMsgUnix(data, rights)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return m, errSlow
	}
	if err != nil || n == 0 {
		return m, errSilent
	}
	if flags&unix.MSG_TRUNC != 0 {
		return m, errors.New("what the sandbox's init says is too long")
	}
	if err := gob.NewDecoder(bytes.NewReader(data[:n])).Decode(&m); err != nil {
		return m, fmt.Errorf("reading what the sandbox's init says: %w", err)
	}
	if m.Failure != nil {
		return m, m.Failure.err()
	}
	if rn > 0 {
		p.listener, err = listenerFrom(rights[:rn])
	}
	return m, err
}

func listenerFrom(rights []byte) (net.Listener, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, fmt.Errorf("receiving the listener: %w", err)
	}
	if len(messages) != 1 {
		return nil, fmt.Errorf("receiving the listener: %d messages", len(messages))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, fmt.Errorf("receiving the listener: %w", err)
	}
	if len(fds) != 1 {
		return nil, fmt.Errorf("receiving the listener: %d descriptors", len(fds))
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	unix.CloseOnExec(fds[0])
	return net.FileListener(f)
}

// err is the error that the init met.
func (f *initFailure) err() error {
	err := errors.New(f.Text)
	switch {
	case f.Text == exec.ErrNotFound.Error():
		err = exec.ErrNotFound
	case f.Text == "" && f.Errno != 0:
		err = f.Errno
	case f.Errno != 0:
		err = fmt.Errorf("%s: %w", f.Text, f.Errno)
	}
	switch {
	case f.Mount != nil:
		return &MountError{*f.Mount, err}
	case f.Program:
		return &exec.Error{Name: f.Step, Err: err}
	}
	return &UnavailableError{f.Step, err}
}

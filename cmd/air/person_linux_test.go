package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// person is a command of scripts: person ANSWER... -- COMMAND... runs the command on a
// terminal of its own, types one answer at each prompt, and shows on standard error what
// was on the terminal. Standard input and output are the script's. It ends as the command
// does, or with 99 where it was not asked as often as it has answers.
func person() {
	at := slices.Index(os.Args, "--")
	if at < 0 || at+1 == len(os.Args) {
		fmt.Fprintln(os.Stderr, "usage: person answer... -- command...")
		os.Exit(98)
	}
	code, err := onTerminal(os.Args[1:at], os.Args[at+1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "person:", err)
		os.Exit(99)
	}
	os.Exit(code)
}

func onTerminal(answers, command []string) (int, error) {
	hand, screen, err := openPTY()
	if err != nil {
		return 0, err
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, screen
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := c.Start(); err != nil {
		return 0, err
	}
	if err := screen.Close(); err != nil { // the command's is the last: reading ends with it
		return 0, err
	}
	left, extra, shown := typeAnswers(hand, answers)
	_, _ = os.Stderr.Write(bytes.ReplaceAll(shown, []byte("\r\n"), []byte("\n")))
	err = c.Wait()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return 0, err
	case left > 0 || extra > 0:
		return 0, fmt.Errorf("asked %d times too few, %d times too often", left, extra)
	}
	return c.ProcessState.ExitCode(), nil
}

// typeAnswers types an answer whenever a prompt is the last that was shown; beyond the last
// answer it ends the input.
func typeAnswers(hand *os.File, answers []string) (left, extra int, shown []byte) {
	buffer := make([]byte, 4096)
	for {
		n, err := hand.Read(buffer)
		shown = append(shown, buffer[:n]...)
		if err != nil { // EIO: nobody has the other side any more
			return len(answers), extra, shown
		}
		if !bytes.HasSuffix(shown, []byte("> ")) && !bytes.HasSuffix(shown, []byte("shown): ")) {
			continue
		}
		time.Sleep(100 * time.Millisecond) // as a person would, who also finds the terminal ready for what is not shown
		text := "\x04"
		if len(answers) > 0 {
			text, answers = answers[0]+"\n", answers[1:]
		} else {
			extra++
		}
		_, _ = hand.WriteString(text) // a command that has ended does not wait for it
	}
}

func openPTY() (hand, screen *os.File, err error) {
	if hand, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(hand.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return hand, screen, err
}

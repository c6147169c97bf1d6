package hostabi

import "maps"

// Descriptors of a command.
const (
	stdin  = 0
	stdout = 1
	stderr = 2
)

// Rights of a descriptor, which some language runtimes look at.
const (
	rightRead  = 1 << 1
	rightWrite = 1 << 6
	rightStat  = 1 << 21
)

// commandCalls are the functions that do something for a command: those of the stub, with
// the three descriptors that a program expects. They are pipes to it: not seekable, and no
// terminals, so that what is written comes in large pieces.
func commandCalls() map[string]wasiCall {
	calls := wasiCalls()
	maps.Copy(calls, map[string]wasiCall{
		"args_get":        argsGet,
		"args_sizes_get":  argsSizes,
		"fd_close":        onPipe(wasiOK),
		"fd_fdstat_get":   pipeFdstat,
		"fd_filestat_get": pipeFilestat,
		"fd_read":         stdinRead,
		"fd_seek":         onPipe(wasiESPIPE),
		"fd_tell":         onPipe(wasiESPIPE),
		"fd_write":        stdWrite,
	})
	return calls
}

func argsSizes(c *Call, m Memory, s []uint64) errno {
	return stored(put32(m, uint32(s[0]), 1) && put32(m, uint32(s[1]), uint32(len(c.Tool)+1)))
}

func argsGet(c *Call, m Memory, s []uint64) errno {
	text := uint32(s[1])
	return stored(m.Write(text, append([]byte(c.Tool), 0)) && put32(m, uint32(s[0]), text))
}

// onPipe gives one answer for the descriptors that there are. Closing one does nothing.
func onPipe(answer errno) wasiCall {
	return func(_ *Call, _ Memory, s []uint64) errno {
		if uint32(s[0]) > stderr {
			return wasiEBADF
		}
		return answer
	}
}

// pipeFdstat says what may be done with a descriptor. WASI has no word for a pipe: 0 is a
// file of unknown type.
func pipeFdstat(_ *Call, m Memory, s []uint64) errno {
	var stat [24]byte
	rights := uint64(rightWrite | rightStat)
	switch fd := uint32(s[0]); {
	case fd > stderr:
		return wasiEBADF
	case fd == stdin:
		rights = rightRead | rightStat
	}
	return stored(m.Write(uint32(s[1]), stat[:]) && put64(m, uint32(s[1])+8, rights))
}

// pipeFilestat tells nothing: a file of unknown type and size.
func pipeFilestat(_ *Call, m Memory, s []uint64) errno {
	if uint32(s[0]) > stderr {
		return wasiEBADF
	}
	var stat [64]byte
	return stored(m.Write(uint32(s[1]), stat[:]))
}

// stdinRead reads on in the tool's input. 0 bytes are its end.
func stdinRead(c *Call, m Memory, s []uint64) errno {
	if uint32(s[0]) != stdin {
		return wasiEBADF
	}
	list, e := pieces(m, s)
	if e != wasiOK {
		return e
	}
	rest := c.Input[c.read:]
	for _, p := range list {
		n := min(uint64(p.size), uint64(len(rest)))
		if !m.Write(p.at, rest[:n]) {
			return wasiEFAULT
		}
		rest = rest[n:]
	}
	taken := len(c.Input) - c.read - len(rest)
	if !put32(m, uint32(s[3]), uint32(taken)) {
		return wasiEFAULT
	}
	c.read += taken
	return wasiOK
}

// stdWrite appends to the output, or to the log. A write to the output that goes over the
// limit is refused as a whole, and fails the call whatever the program makes of it.
func stdWrite(c *Call, m Memory, s []uint64) errno {
	if uint32(s[0]) != stdout {
		return fdWrite(c, m, s)
	}
	list, e := pieces(m, s)
	if e != wasiOK {
		return e
	}
	output := c.Output
	for _, p := range list {
		data, ok := m.Read(p.at, p.size)
		if !ok {
			return wasiEFAULT
		}
		if int64(len(output))+int64(len(data)) > c.Limits.OutputBytes {
			c.OutputRefused = true
			return wasiENOSPC
		}
		output = append(output, data...)
	}
	if !put32(m, uint32(s[3]), uint32(len(output)-len(c.Output))) {
		return wasiEFAULT
	}
	c.Output = output
	return wasiOK
}

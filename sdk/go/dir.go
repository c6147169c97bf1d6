//go:build !wasip1

package air

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// What fs.read returns at once.
const (
	pieceLines = 2000
	pieceBytes = 256 << 10
)

// Dir is a Host for native runs: fs.read and fs.stat on text files below a folder,
// the log on a writer, and no other tool.
func Dir(root string, log io.Writer) (Host, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return dir{r, log}, nil
}

type dir struct {
	root *os.Root
	log  io.Writer
}

func (d dir) Emit(kind Kind, payload []byte) error {
	if kind != KindProgress {
		fmt.Fprintf(d.log, "%s\n", payload)
	}
	return nil
}

func (d dir) Call(tool string, input []byte) ([]byte, error) {
	var in struct {
		Path        string `json:"path"`
		OffsetLines int    `json:"offset_lines"`
		LimitLines  int    `json:"limit_lines"`
	}
	if err := decodeStrict(input, &in); err != nil {
		return refusal("invalid_input", err.Error())
	}
	switch tool {
	case "fs.stat":
		return envelope(d.stat(in.Path))
	case "fs.read":
		if in.LimitLines == 0 {
			in.LimitLines = pieceLines
		}
		return envelope(d.read(in.Path, in.OffsetLines, in.LimitLines))
	}
	return refusal("unavailable", "there is no "+tool+" outside AIR")
}

func (d dir) stat(path string) (any, error) {
	info, err := d.root.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return FileInfo{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	kind := "file"
	if info.IsDir() {
		kind = "directory"
	}
	return FileInfo{path, true, kind, info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano)}, nil
}

func (d dir) read(path string, offset, limit int) (any, error) {
	f, err := d.root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, pieceBytes)
	if err := skipLines(r, offset); err != nil {
		return nil, err
	}
	return readPiece(r, limit)
}

func skipLines(r *bufio.Reader, lines int) error {
	for lines > 0 {
		switch _, err := r.ReadSlice('\n'); err {
		case nil:
			lines--
		case bufio.ErrBufferFull: // within a line
		case io.EOF:
			return nil
		default:
			return err
		}
	}
	return nil
}

func readPiece(r *bufio.Reader, limit int) (any, error) {
	var content strings.Builder
	p := piece{ContentType: "text"}
	for {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if line == "" {
			break
		}
		if p.LineCount == limit || content.Len()+len(line) > pieceBytes {
			p.Truncated = true
			break
		}
		content.WriteString(line)
		p.LineCount++
	}
	p.Content = content.String()
	switch {
	case !utf8.ValidString(p.Content) || strings.Contains(p.Content, "\x00"):
		return piece{ContentType: "binary"}, nil
	case p.Content == "" && !p.Truncated:
		p.ContentType = "empty"
	}
	return p, nil
}

func envelope(output any, err error) ([]byte, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refusal("not_found", err.Error())
	case err != nil:
		return refusal("unavailable", err.Error())
	}
	return json.Marshal(map[string]any{"ok": true, "output": output})
}

func refusal(kind, message string) ([]byte, error) {
	return json.Marshal(map[string]any{"ok": false, "error": ToolError{Kind: kind, Message: message}})
}

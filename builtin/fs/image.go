package fs

import (
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/aircoding/air/internal/plainjson"
)

// maxImageHead bounds how much of an image is read to find its size: a JPEG has it behind
// what cameras write, thumbnails included.
const maxImageHead = 4 << 20

// imageInfo is the content of an image without encoding base64.
type imageInfo struct {
	Format string `json:"format"`
	Width  int    `json:"width,omitempty"`  // pixels; none where the head does not tell
	Height int    `json:"height,omitempty"` // likewise
}

// describeImage reads the head of an image and nothing of its pixels. media is its media
// type.
func describeImage(media string, content io.Reader) (string, error) {
	_, format, _ := strings.Cut(media, "/")
	info := imageInfo{Format: strings.TrimPrefix(format, "x-")}
	if config, ok := imageSize(info.Format, io.LimitReader(content, maxImageHead)); ok {
		info.Width, info.Height = config.Width, config.Height
	}
	described, err := plainjson.Marshal(info)
	return string(described), err
}

func imageSize(format string, head io.Reader) (config image.Config, ok bool) {
	var err error
	switch format {
	case "png", "vnd.mozilla.apng":
		config, err = png.DecodeConfig(head)
	case "jpeg":
		config, err = jpeg.DecodeConfig(head)
	case "gif":
		config, err = gif.DecodeConfig(head)
	case "webp":
		return rawSize(head, 30, webpSize)
	case "bmp":
		return rawSize(head, 26, bmpSize)
	default:
		return config, false
	}
	return config, err == nil
}

// rawSize has a size read out of the first bytes.
func rawSize(head io.Reader, length int, of func([]byte) (width, height int)) (image.Config, bool) {
	raw := make([]byte, length)
	if _, err := io.ReadFull(head, raw); err != nil {
		return image.Config{}, false
	}
	width, height := of(raw)
	return image.Config{Width: width, Height: height}, width > 0 && height > 0
}

// webpSize reads the header of the three sorts of WebP, RFC 9649 section 2.
func webpSize(raw []byte) (width, height int) {
	switch string(raw[12:16]) {
	case "VP8X": // 24 bits each, less one
		return uint24(raw[24:]) + 1, uint24(raw[27:]) + 1
	case "VP8L": // a signature, then 14 bits each, less one
		bits := binary.LittleEndian.Uint32(raw[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8 ": // a tag and a start code, then 14 bits each, with two of scale
		return int(binary.LittleEndian.Uint16(raw[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(raw[28:]) & 0x3fff)
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// bmpSize reads the headers of Windows, whose height is negative where the first line is
// the upper one, and the old one of OS/2.
func bmpSize(raw []byte) (width, height int) {
	if binary.LittleEndian.Uint32(raw[14:]) == 12 {
		return int(binary.LittleEndian.Uint16(raw[18:])), int(binary.LittleEndian.Uint16(raw[20:]))
	}
	width, height = int(int32(binary.LittleEndian.Uint32(raw[18:]))), int(int32(binary.LittleEndian.Uint32(raw[22:])))
	if height < 0 {
		height = -height
	}
	return width, height
}

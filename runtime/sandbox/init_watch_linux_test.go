package sandbox

import "testing"

// The lines are in the form of proc(5).
func TestLostOf(t *testing.T) {
	const made = "30 23 0:26 / /p rw,nosuid - ext4 /dev/vda rw\n" +
		"31 30 0:27 /file /p/.env ro - tmpfs tmpfs rw\n" +
		`32 30 0:27 /folder /p/a\040b\134c ro - tmpfs tmpfs rw` + "\n"
	for name, c := range map[string]struct{ now, want string }{
		"the same": {made, ""},
		"remounted outside": {"30 23 0:26 / /p rw,nosuid - ext4 /dev/vda ro\n" +
			"31 30 0:27 /file /p/.env ro - tmpfs tmpfs rw\n" +
			`32 30 0:27 /folder /p/a\040b\134c ro - tmpfs tmpfs rw` + "\n", ""},
		"taken off": {"30 23 0:26 / /p rw,nosuid - ext4 /dev/vda rw\n" +
			`32 30 0:27 /folder /p/a\040b\134c ro - tmpfs tmpfs rw` + "\n", "/p/.env"},
		"renamed": {"30 23 0:26 / /p rw,nosuid - ext4 /dev/vda rw\n" +
			"31 30 0:27 /file /p/.env ro - tmpfs tmpfs rw\n" +
			"32 30 0:27 /folder /p/x ro - tmpfs tmpfs rw\n", `/p/a b\c`},
		"another in its place": {"30 23 0:26 / /p rw,nosuid - ext4 /dev/vda rw\n" +
			"33 30 0:27 /file /p/.env ro - tmpfs tmpfs rw\n" +
			`32 30 0:27 /folder /p/a\040b\134c ro - tmpfs tmpfs rw` + "\n", "/p/.env"},
		"nothing": {"", "/p"},
	} {
		if got := lostOf([]byte(made), []byte(c.now)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

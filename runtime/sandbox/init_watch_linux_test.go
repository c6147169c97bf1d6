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
		"another order": {`32 30 0:27 /folder /p/a\040b\134c ro - tmpfs tmpfs rw` + "\n" +
			"31 30 0:27 /file /p/.env ro - tmpfs tmpfs rw\n" +
			"30 23 0:26 / /p rw,nosuid - ext4 /dev/vda rw\n", ""},
		"source renamed": {"30 23 0:26 /other /p rw,nosuid - ext4 /dev/vda rw\n" + made[len("30 23 0:26 / /p rw,nosuid - ext4 /dev/vda rw\n"):], ""},
	} {
		if got := lostOf([]byte(made), []byte(c.now)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// What comes again and again must not allocate: the init collects nothing.
func TestWatchAllocatesNothing(t *testing.T) {
	w, err := newWatch(nil)
	if err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(100, func() {
		w.made[len(w.made)-2] ^= 1 // an option, as if its file system had been remounted
		if lost := w.lost(); lost != "" {
			t.Errorf("%q was lost", lost)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// The texts are in the form of proc(5) and cgroups(7).
func TestHierarchies(t *testing.T) {
	for name, c := range map[string]struct {
		mountinfo, own string
		old            map[string]string
		unified        unifiedPath
	}{
		"a user's terminal, unified": {
			"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			"0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n",
			nil,
			unifiedPath{"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope", "/sys/fs/cgroup"},
		},
		"old ones beside the unified": {
			"31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"32 23 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
				"33 23 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"34 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"9:memory:/a/b\n8:pids:/\n7:cpu,cpuacct:/c\n1:name=systemd:/\n0::/\n",
			map[string]string{
				"memory": "/sys/fs/cgroup/memory/a/b", "pids": "/sys/fs/cgroup/pids",
				"cpu": "/sys/fs/cgroup/cpu,cpuacct/c", "cpuacct": "/sys/fs/cgroup/cpu,cpuacct/c",
			},
			unifiedPath{"/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified"},
		},
		"a container that sees its own part": {
			"31 23 0:27 /box/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			"9:memory:/box/1/x\n",
			map[string]string{"memory": "/sys/fs/cgroup/memory/x"},
			unifiedPath{},
		},
		"another's part": {
			"31 23 0:27 /box/12 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"30 23 0:26 /box/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"9:memory:/box/123\n0::/../other\n",
			nil,
			unifiedPath{},
		},
		"nonsense": {"1\n - \nx y z - cgroup\n", "a\n::\n", nil, unifiedPath{}},
	} {
		old, unified := hierarchies(c.mountinfo, c.own)
		if !maps.Equal(old, c.old) || unified != c.unified {
			t.Errorf("%s: got %v and %v", name, old, unified)
		}
	}
}

func TestSweepKeepsTheLiving(t *testing.T) {
	dir := t.TempDir()
	const gone = 1 << 30 // above the highest process id that Linux has
	for _, name := range []string{
		cgroupPrefix + strconv.Itoa(gone) + "-a", cgroupPrefix + strconv.Itoa(os.Getpid()) + "-b", cgroupPrefix + "x", "other",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%v are left, %v", left, err)
	}
}

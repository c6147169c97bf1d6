package runner

import "testing"

func TestHarmlessConfig(t *testing.T) {
	const plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n" +
		"[remote \"origin\"]\n\turl = https://host/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	if !harmlessConfig(plain) {
		t.Error("what git writes is refused")
	}
	for _, more := range []string{
		"[core]\n\tfsmonitor = x\n", "[core] fsmonitor = x\n", "[core]\n\tfilemode = true\\\n\tfsmonitor = x\n", "[include]\n\tpath = x\n",
		"[alias]\n\tst = !x\n", "[remote \"x\"]\n\turl = ext::sh -c x\n", "[remote \"x\"]\n\turl = -oProxyCommand=x\n", "[core]\n\thooksPath = x\n",
		"[remote \"x\"]\n\tuploadpack = x\n", "[CORE]\n\tsshCommand = x\n", "[core]\n\tworktree = /\n", "[core\n\tfilemode = true\n",
		"[filter \"x\"]\n\tclean = x\n", "[submodule \"x\"]\n\tupdate = !x\n", "[core]\n\tfilemode\n\tpager = x\n", "# [core]\n", "[diff]\n\texternal = x\n",
	} {
		if harmlessConfig(plain + more) {
			t.Errorf("%q passes", more)
		}
	}
	if harmlessConfig("") {
		t.Error("nothing passes")
	}
}

package sandbox

import "testing"

func TestKernelAtLeast(t *testing.T) {
	if !kernelAtLeast(2, 6) || kernelAtLeast(1000, 0) {
		t.Errorf("the kernel is %s", kernelRelease())
	}
}

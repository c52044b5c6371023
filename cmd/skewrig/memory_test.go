package main

import (
	"os/exec"
	"strings"
	"testing"
)

// grow is the environment variable that has this test binary use ever more memory.
const grow = "SKEWRIG_TEST_GROW"

// growForEver doubles a text, as a script of a container may.
func growForEver() {
	boundMemory(1 << 30)
	text := strings.Repeat("x", 1<<20)
	for {
		text += text
	}
}

// TestMemoryIsBounded: the process ends before the machine has no memory left.
func TestMemoryIsBounded(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{grow + "=1"}
	output, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "out of memory") && !strings.Contains(string(output), "cannot allocate memory") {
		t.Errorf("it ended with %v and said\n%s", err, output[:min(len(output), 1000)])
	}
}

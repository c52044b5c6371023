package cluster

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/program"
)

// TestClaimTaken: a block that another process has claimed, or of which it has a port, is not claimed, and the error
// says who has it.
func TestClaimTaken(t *testing.T) {
	first, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claim(first.octet); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d of user %d", os.Getpid(), os.Getuid())) {
		t.Errorf("a block that is claimed: %v", err)
	}
	other, err := net.Listen("tcp", fmt.Sprintf("%s:%d", first.controlPlane(), portOf(program.APIServer)))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(first.octet); err == nil || !strings.Contains(err.Error(), "port 6443 is taken by another program") {
		t.Errorf("a block with a port that is taken: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := claim(first.octet)
	if err != nil {
		t.Fatalf("a block that is free again: %v", err)
	}
	if err := again.release(); err != nil {
		t.Error(err)
	}
}

package server

import (
	"net/netip"
	"strings"
	"testing"
)

// TestWhere: without a network of its own, no server is to be reached from other machines.
func TestWhere(t *testing.T) {
	t.Parallel()
	pod, loopback := netip.MustParseAddrPort("192.0.2.7:80"), netip.MustParseAddrPort("127.0.0.7:80")
	if _, err := where(pod, false); err == nil || !strings.Contains(err.Error(), "not a loopback address") {
		t.Errorf("the error is %v", err)
	}
	if got, err := where(loopback, false); err != nil || got != "127.0.0.7:80" {
		t.Errorf("it is %s: %v", got, err)
	}
	if got, err := where(pod, true); err != nil || got != ":80" {
		t.Errorf("it is %s: %v", got, err)
	}
}

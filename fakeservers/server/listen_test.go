package server_test

import (
	"net/netip"
	"os"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/server"
)

// TestAPortIsFreeOnceItIsClosed: also while another process has a copy of the
// listener, as one has that is just being started.
func TestAPortIsFreeOnceItIsClosed(t *testing.T) {
	t.Parallel()
	first, err := server.Listen(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"), false)
	if err != nil {
		t.Fatal(err)
	}
	held, err := first.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := server.Listen(t.Context(), netip.MustParseAddrPort(first.Addr().String()), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

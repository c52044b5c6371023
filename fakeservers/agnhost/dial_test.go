package agnhost_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// service is one of this machine that is no part of a rig.
func service(t *testing.T) (port string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port, asked
}

// TestContainersReachTheirRigOnly has a container try to reach a service of this machine.
func TestContainersReachTheirRigOnly(t *testing.T) {
	t.Parallel()
	port, asked := service(t)
	c := run(t, spec{args: []string{"netexec"}, network: true})
	c.listening(1)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1.1.1", "2130706433", "localhost.localdomain"} {
		if code, stdout, _ := c.exec("curl", "-s", "-m", "5", "http://"+host+":"+port+"/"); code == 0 || stdout != "" {
			t.Errorf("curl of %s ended with %d: %q", host, code, stdout)
		}
		_, _, _ = c.exec("grpc_health_probe", "-connect-timeout", "50ms", "-addr", host+":"+port)
		base := "http://" + c.address(8080)
		get(t, base+"/dial?request=x&host="+url.QueryEscape(strings.Trim(host, "[]"))+"&port="+port)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("a container reached a service of this machine %d times", n)
	}
}

func TestWhatContainersReach(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"netexec"}, network: true})
	c.listening(1)
	if err := c.process.WriteFile("/etc/hosts", []byte("127.0.0.1 localhost\n"+c.process.IP.String()+" web-0.orders web-0 # of the pod\n10.1.2.3 far\n")); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"curl -s http://localhost:8080/hostname":                "web-0",
		"curl -s http://127.0.0.1:8080/hostname":                "web-0",
		"curl -s http://web-0.orders:8080/hostname":             "web-0",
		"curl -s " + c.address(8080) + "/hostname":              "web-0",
		"curl -s http://nowhere.example:8080/ || echo $?":       "6\n",
		"curl -s http://192.0.2.1:8080/ || echo $?":             "7\n",
		"curl -sS http://192.0.2.1:8080/ 2>/dev/stdout || true": "curl: Get \"http://192.0.2.1:8080/\": dial tcp: connect: network is unreachable\n",
		"curl -sS http://far/ 2>/dev/stdout || true":            "curl: Get \"http://far/\": dial tcp: connect: network is unreachable\n",
	} {
		if _, stdout, stderr := c.exec("sh", "-c", script); stdout != want {
			t.Errorf("%s: %q, %q, want %q", script, stdout, stderr, want)
		}
	}
}

// TestContainersWithANetworkReachItAll is about real containers, and rigs that may use this machine.
func TestContainersWithANetworkReachItAll(t *testing.T) {
	t.Parallel()
	port, asked := service(t)
	c := run(t, spec{args: []string{"netexec"}})
	c.listening(1)
	other := &image.Process{IP: netip.MustParseAddr("127.0.0.1"), OwnNetwork: true}
	code := c.image.Exec(t.Context(), other, []string{"curl", "-s", "http://127.0.0.1:" + port}, image.Streams{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}})
	if code != 0 || asked.Load() != 1 {
		t.Errorf("ended with %d", code)
	}
}

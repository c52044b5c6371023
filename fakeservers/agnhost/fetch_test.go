package agnhost_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestNetexecDials(t *testing.T) {
	t.Parallel()
	c, base := netexec(t)
	host, port, _ := strings.Cut(c.address(8080), ":")
	dial := base + "/dial?tries=2&host=" + host + "&port=" + port + "&request="
	if status, body := get(t, dial+url.QueryEscape("echo?msg=hi")); status != 200 || body != `{"responses":["hi","hi"]}` {
		t.Errorf("dialed: %d %s", status, body)
	}
	if status, body := get(t, base+"/dial?host="+host+"&port=1&request=x"); status != 200 || !strings.HasPrefix(body, `{"errors":["`) {
		t.Errorf("dialed a port at which nothing listens: %d %s", status, body)
	}
	c.expectLogs("GET /dial?host="+host+"&protocol=&port=8080&request=echo?msg=hi&tries=2", "GET /echo?msg=hi&code=")
}

func TestCurl(t *testing.T) {
	t.Parallel()
	c, base := netexec(t)
	secure := run(t, spec{args: []string{"netexec", "--tls-cert-file", "/localhost.crt", "--tls-private-key-file", "/localhost.key"}})
	secure.listening(1)
	for script, want := range map[string]string{
		"curl " + base + "/echo?msg=hi":                                           "hi",
		"curl " + c.address(8080) + "/hostname":                                   "web-0",
		"curl -s '" + base + "/echo?msg=no&code=503'":                             "no",
		"curl -sf '" + base + "/echo?msg=no&code=503' || echo $?":                 "22\n",
		"curl -s -m 5 http://" + c.address(1) + " || echo $?":                     "7\n",
		"curl -ks https://" + secure.address(8080) + "/echo?msg=secret":           "secret",
		"curl -s https://" + secure.address(8080) + "/echo?msg=x; echo $?":        "7\n",
		"curl -X POST " + base + " || curl || curl -m no " + base + " || echo $?": "2\n",
	} {
		if _, stdout, stderr := c.exec("sh", "-c", script); stdout != want {
			t.Errorf("%s: %q, %q, want %q", script, stdout, stderr, want)
		}
	}
}

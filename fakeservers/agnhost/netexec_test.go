package agnhost_test

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// netexec starts the program, and returns it and its URL.
func netexec(t *testing.T, args ...string) (*container, string) {
	t.Helper()
	c := run(t, spec{args: append([]string{"netexec"}, args...), env: []string{"NODE_NAME=node-a", "EMPTY="}})
	c.listening(1)
	return c, "http://" + c.address(8080)
}

func TestNetexecAnswers(t *testing.T) {
	t.Parallel()
	c, base := netexec(t)
	if err := c.process.WriteFile("/tmp/a", []byte("content")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/serverport":                  {200, "8080"},
		"/hostname":                    {200, "web-0"},
		"/hostName":                    {200, "web-0"},
		"/healthz":                     {200, ""},
		"/readyz":                      {200, "ok"},
		"/echo?msg=hi":                 {200, "hi"},
		"/echo?msg=no&code=503":        {503, "no"},
		"/echo?code=soon":              {200, "argument 'code' must be an integer or empty, got \"soon\"\n"},
		"/echo?code=99":                {400, "99 is not the status of an answer\n"},
		"/header?key=User-Agent":       {200, "Go-http-client/1.1"},
		"/envvar?var=NODE_NAME":        {200, "node-a"},
		"/envvar?var=EMPTY":            {200, ""},
		"/envvar?var=NONE":             {500, "env var \"NONE\" is not set\n"},
		"/envvar":                      {400, "'var' query parameter is required\n"},
		"/redirect?location=/x":        {302, "/x"},
		"/redirect?code=307":           {307, "/"},
		"/shell?cmd=cat+/tmp/a":        {200, `{"output":"content"}`},
		"/shell?shellCommand=exit+3":   {200, `{"error":"exit status 3"}`},
		"/dial":                        {400, "request parameter not specified.\n"},
		"/dial?request=x&tries=all":    {400, "tries parameter is invalid. strconv.Atoi: parsing \"all\": invalid syntax\n"},
		"/dial?request=x&protocol=udp": {501, "skewrig doesn't implement /dial over udp\n"},
		"/upload":                      {501, "skewrig doesn't implement netexec's /upload\n"},
		"/exit?code=one":               {200, "argument 'code' must be an integer [0-127] or empty, got \"one\"\n"},
		"/exit?timeout=1":              {200, "argument 'timeout' must be a valid golang duration or empty, got \"1\"\n"},
		"/exit?wait=-1s":               {200, "argument 'wait' must be a valid golang duration or empty, got \"-1s\"\n"},
	} {
		status, body := get(t, base+path)
		if status != want.status || body != want.body {
			t.Errorf("%s: %d %q, want %d %q", path, status, body, want.status, want.body)
		}
	}
	for path, want := range map[string]string{"/": "NOW: 20", "/other": "NOW: 20", "/clientip": "127.", "/header": `{"Accept-Encoding":["gzip"]`} {
		if status, body := get(t, base+path); status != 200 || !strings.HasPrefix(body, want) {
			t.Errorf("%s: %d %q, want %q first", path, status, body, want)
		}
	}
	c.expectLogs("Started HTTP server on port 8080", "Started UDP server on port 127.", "GET /envvar")
}

func TestNetexecAnswersDatagrams(t *testing.T) {
	t.Parallel()
	c, _ := netexec(t, "--udp-port=9000", "--udp-listen-addresses=10.0.0.1")
	for question, want := range map[string]string{
		"hostname": "web-0", "echo Hello You": "hello you", "ENVVAR NODE_NAME": "node-a", "serverport\n": "9000",
	} {
		if got := askUDP(t, c.address(9000), question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
	if got := askUDP(t, c.address(9000), "clientip"); !strings.HasPrefix(got, "127.") {
		t.Errorf("clientip: %q", got)
	}
	c.expectLogs("instead of 10.0.0.1")
}

func TestNetexecWithoutUDPIsNotHealthy(t *testing.T) {
	t.Parallel()
	_, base := netexec(t, "--udp-port=-1")
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _ := get(t, base+path); status != http.StatusPreconditionFailed {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestNetexecExits(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		code     int
		answered bool
	}{
		"/shutdown":                 {0, false},
		"/exit":                     {0, false},
		"/exit?code=3":              {3, false},
		"/exit?code=3&wait=1ms":     {3, false},
		"/exit?code=256":            {0, false},
		"/exit?code=4&timeout=1h":   {4, true},
		"/exit?timeout=1h&wait=1ms": {0, true},
	} {
		t.Run(url.PathEscape(path), func(t *testing.T) {
			t.Parallel()
			c, base := netexec(t)
			status, _, err := tryGet(t, base+path)
			if want.answered != (err == nil) || want.answered && status != 200 {
				t.Errorf("answered %d, error %v", status, err)
			}
			c.expectExit(want.code)
		})
	}
}

func TestNetexecStops(t *testing.T) {
	t.Parallel()
	c, _ := netexec(t)
	c.signals <- syscall.SIGTERM
	c.expectExit(0)

	c, _ = netexec(t)
	c.signals <- syscall.SIGINT
	c.expectExit(2)

	c, base := netexec(t, "--delay-shutdown=3600")
	c.signals <- syscall.SIGTERM
	c.waitLogs("Sleeping 3600 seconds before terminating...")
	if status, body := get(t, base+"/readyz"); status != 503 || body != "shutting down" {
		t.Errorf("/readyz while it stops: %d %q", status, body)
	}
	if status, _ := get(t, base+"/healthz"); status != 200 {
		t.Errorf("/healthz while it stops: %d", status)
	}
	c.kill()
	c.expectExit(137)
}

func TestNetexecOverTLS(t *testing.T) {
	t.Parallel()
	c, _ := netexec(t, "--tls-cert-file=localhost.crt", "--tls-private-key-file=/localhost.key")
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
	response, err := client.Get("https://" + c.address(8080) + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 200 || response.Proto != "HTTP/2.0" {
		t.Errorf("answered %s over %s", response.Status, response.Proto)
	}
}

func TestNetexecOverride(t *testing.T) {
	t.Parallel()
	_, base := netexec(t, "--http-override=/echo?msg=always&code=201")
	if status, body := get(t, base+"/hostname"); status != 201 || body != "always" {
		t.Errorf("answered %d %q", status, body)
	}
}

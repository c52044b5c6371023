package agnhost

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/shell"
)

// handler returns netexec's endpoints, or the one that stands for all of them.
func (n *netexecServer) handler() http.Handler {
	mux := http.NewServeMux()
	hostname := says(func(*http.Request) string { return n.Hostname() })
	for path, handle := range map[string]http.HandlerFunc{
		"/":           says(func(*http.Request) string { return fmt.Sprintf("NOW: %v", time.Now()) }),
		"/clientip":   says(func(r *http.Request) string { return r.RemoteAddr }),
		"/serverport": says(func(*http.Request) string { return fmt.Sprint(n.httpPort) }),
		"/header":     n.handleHeader,
		"/echo":       n.handleEcho,
		"/exit":       n.handleExit,
		"/healthz":    n.handleHealthz,
		"/readyz":     n.handleReadyz,
		"/hostname":   hostname,
		"/hostName":   hostname,
		"/envvar":     n.handleEnvvar,
		"/redirect":   n.handleRedirect,
		"/shell":      n.handleShell,
		"/shutdown":   n.handleShutdown,
		"/dial":       n.handleDial,
		"/upload":     notPlayedEndpoint,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			n.log.Printf("%s %s%s", r.Method, path, loggedArguments(path, r))
			handle(w, r)
		})
	}
	if n.override == "" {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other, err := http.NewRequestWithContext(r.Context(), http.MethodGet, n.override, nil)
		if err != nil {
			http.Error(w, fmt.Sprintf("override request failed: %v", err), http.StatusInternalServerError)
			return
		}
		mux.ServeHTTP(w, other)
	})
}

// logged are the arguments that netexec logs with a request, by its path.
var logged = map[string][]string{
	"/dial":   {"host", "protocol", "port", "request", "tries"},
	"/echo":   {"msg", "code"},
	"/envvar": {"var"},
	"/exit":   {"code", "timeout", "wait"},
	"/shell":  {"cmd"},
}

// loggedArguments are those of a request, as netexec logs them: empty ones too.
func loggedArguments(path string, r *http.Request) string {
	var arguments []string
	for _, name := range logged[path] {
		arguments = append(arguments, name+"="+r.FormValue(name))
	}
	if len(arguments) == 0 {
		return ""
	}
	return "?" + strings.Join(arguments, "&")
}

func notPlayedEndpoint(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "skewrig doesn't implement netexec's "+r.URL.Path, http.StatusNotImplemented)
}

// says answers a request with a text.
func says(text func(*http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text(r)) }
}

func (n *netexecServer) handleHeader(w http.ResponseWriter, r *http.Request) {
	if key := r.FormValue("key"); key != "" {
		_, _ = io.WriteString(w, r.Header.Get(key))
		return
	}
	writeJSON(w, r.Header)
}

func (n *netexecServer) handleEcho(w http.ResponseWriter, r *http.Request) {
	code, ok := statusArgument(w, r, "code")
	if !ok {
		return
	}
	if code != 0 {
		w.WriteHeader(code)
	}
	_, _ = io.WriteString(w, r.FormValue("msg"))
}

func (n *netexecServer) handleExit(w http.ResponseWriter, r *http.Request) {
	request, err := exitArguments(r)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	n.log.Printf("Will begin shutdown in %s, allowing %s for connections to close, then will exit with %d",
		request.after, request.patience, request.code)
	if request.patience == 0 {
		// The process is gone before it has answered.
		n.requestExit(request)
		<-r.Context().Done()
		return
	}
	// A complete answer must be out before the exit can begin.
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil {
		n.log.Printf("answering /exit: %v", err)
	}
	n.requestExit(request)
}

func exitArguments(r *http.Request) (request exitRequest, err error) {
	if request.patience, err = durationArgument(r, "timeout"); err != nil {
		return request, err
	}
	if request.after, err = durationArgument(r, "wait"); err != nil {
		return request, err
	}
	if text := r.FormValue("code"); text != "" {
		if request.code, err = strconv.Atoi(text); err != nil {
			return request, fmt.Errorf("argument 'code' must be an integer [0-127] or empty, got %q", text)
		}
	}
	return request, nil
}

func (n *netexecServer) handleShutdown(_ http.ResponseWriter, r *http.Request) {
	n.requestExit(exitRequest{})
	<-r.Context().Done()
}

func (n *netexecServer) handleHealthz(w http.ResponseWriter, _ *http.Request) {
	if !n.ready.Load() {
		w.WriteHeader(http.StatusPreconditionFailed)
	}
}

func (n *netexecServer) handleReadyz(w http.ResponseWriter, _ *http.Request) {
	switch {
	case n.stopping.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "shutting down")
	case n.ready.Load():
		_, _ = io.WriteString(w, "ok")
	default:
		w.WriteHeader(http.StatusPreconditionFailed)
	}
}

func (n *netexecServer) handleEnvvar(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("var")
	if name == "" {
		http.Error(w, "'var' query parameter is required", http.StatusBadRequest)
		return
	}
	value, found := n.Getenv(name)
	if !found {
		http.Error(w, fmt.Sprintf("env var %q is not set", name), http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, value)
}

func (n *netexecServer) handleRedirect(w http.ResponseWriter, r *http.Request) {
	code, ok := statusArgument(w, r, "code")
	if !ok {
		return
	}
	if code == 0 {
		code = http.StatusFound
	}
	http.Redirect(w, r, r.FormValue("location"), code)
}

// handleShell runs a command among the container's files.
func (n *netexecServer) handleShell(w http.ResponseWriter, r *http.Request) {
	script := r.FormValue("shellCommand")
	if script == "" {
		script = r.FormValue("cmd")
	}
	output, code := shell.Output(r.Context(), n.Process, script)
	result := map[string]string{}
	if len(output) > 0 {
		result["output"] = string(output)
	}
	if code != 0 {
		result["error"] = fmt.Sprintf("exit status %d", code)
	}
	writeJSON(w, result)
}

// statusArgument returns an argument that is a status code, and 0 if it is unset. It
// reports false, and has answered, if it is neither.
func statusArgument(w http.ResponseWriter, r *http.Request, name string) (int, bool) {
	text := r.FormValue(name)
	if text == "" {
		return 0, true
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintf(w, "argument '%s' must be an integer or empty, got %q\n", name, text)
		return 0, false
	}
	if value < 200 || value > 999 {
		http.Error(w, fmt.Sprintf("%d is not the status of an answer", value), http.StatusBadRequest)
		return 0, false
	}
	return value, true
}

func durationArgument(r *http.Request, name string) (time.Duration, error) {
	text := r.FormValue(name)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("argument '%s' must be a valid golang duration or empty, got %q", name, text)
	}
	return d, nil
}

func writeJSON(w http.ResponseWriter, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		http.Error(w, fmt.Sprintf("response could not be serialized. %v", err), http.StatusExpectationFailed)
		return
	}
	_, _ = w.Write(data)
}

const (
	// dialLimit is how long netexec's /dial waits for an answer.
	dialLimit = 5 * time.Second
	// maxTries is how many requests it sends at most.
	maxTries = 100
)

// handleDial has the server send requests over HTTP, and answers with what they brought.
func (n *netexecServer) handleDial(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	tries, err := 1, error(nil)
	if text := q.Get("tries"); text != "" {
		tries, err = strconv.Atoi(text)
	}
	if tries > maxTries {
		err = fmt.Errorf("must be at most %d", maxTries)
	}
	protocol := strings.ToLower(q.Get("protocol"))
	switch {
	case err != nil:
		http.Error(w, fmt.Sprintf("tries parameter is invalid. %v", err), http.StatusBadRequest)
		return
	case q.Get("request") == "":
		http.Error(w, "request parameter not specified.", http.StatusBadRequest)
		return
	case protocol != "" && protocol != "http":
		http.Error(w, "skewrig doesn't implement /dial over "+protocol, http.StatusNotImplemented)
		return
	}
	url := "http://" + net.JoinHostPort(q.Get("host"), q.Get("port")) + "/" + q.Get("request")
	output := make(map[string][]string)
	for range tries {
		if _, body, err := shell.Fetch(r.Context(), n.Process, url, dialLimit, false); err != nil {
			output["errors"] = append(output["errors"], err.Error())
		} else {
			output["responses"] = append(output["responses"], body)
		}
	}
	writeJSON(w, output)
}

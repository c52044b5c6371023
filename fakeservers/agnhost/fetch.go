package agnhost

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// maxFetched is how much of an answer is read, in bytes.
const maxFetched = 1 << 20

// fetch gets what is at a URL, as a process of a container does.
func fetch(ctx context.Context, from *image.Process, url string, limit time.Duration, insecure bool) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	transport := &http.Transport{
		DialContext: dialer(from), DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}, //nolint:gosec // as curl -k does
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxFetched))
	return answer.StatusCode, string(text), err
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
		if _, body, err := fetch(r.Context(), n.Process, url, dialLimit, false); err != nil {
			output["errors"] = append(output["errors"], err.Error())
		} else {
			output["responses"] = append(output["responses"], body)
		}
	}
	writeJSON(w, output)
}

// The exit codes of curl.
const (
	curlUsage       = 2
	curlUnresolved  = 6
	curlUnreachable = 7
	curlRefused     = 22
)

// curlLimit is how long curl waits unless -m says otherwise.
const curlLimit = 2 * time.Minute

// curl gets what is at a URL. Of its options it has -f, -k, -s and -S, and -m with seconds.
func curl(ctx context.Context, s *session, args []string) int {
	var options strings.Builder
	var urls []string
	limit := curlLimit
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch letters, is := strings.CutPrefix(arg, "-"); {
		case !is:
			urls = append(urls, arg)
		case letters == "m" && len(args) > 0:
			seconds, err := strconv.ParseFloat(args[0], 64)
			if err != nil || seconds <= 0 {
				s.complain("curl", fmt.Errorf("%q is no number of seconds", args[0]))
				return curlUsage
			}
			limit, args = time.Duration(seconds*float64(time.Second)), args[1:]
		case strings.Trim(letters, "fksS") == "" && letters != "":
			options.WriteString(letters)
		default:
			s.complain("curl", fmt.Errorf("skewrig understands -f, -k, -m, -s and -S, not %s", arg))
			return curlUsage
		}
	}
	if len(urls) != 1 {
		s.complain("curl", errors.New("it takes one URL"))
		return curlUsage
	}
	has := func(letter string) bool { return strings.Contains(options.String(), letter) }
	return s.curl(ctx, urls[0], limit, has)
}

func (s *session) curl(ctx context.Context, url string, limit time.Duration, has func(option string) bool) int {
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	status, body, err := fetch(ctx, s.files, url, limit, has("k"))
	said := has("S") || !has("s")
	switch {
	case err != nil:
		if said {
			s.complain("curl", err)
		}
		if _, is := errors.AsType[*net.DNSError](err); is {
			return curlUnresolved
		}
		return curlUnreachable
	case has("f") && status >= http.StatusBadRequest:
		if said {
			s.complain("curl", fmt.Errorf("the requested URL returned error: %d", status))
		}
		return curlRefused
	}
	_, _ = io.WriteString(s.stdout, body)
	return 0
}

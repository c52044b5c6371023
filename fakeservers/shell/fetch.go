package shell

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

// Fetch gets what is at a URL, as a process of a container does.
func Fetch(ctx context.Context, from *image.Process, url string, limit time.Duration, insecure bool) (status int, body string, err error) {
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
	status, body, err := Fetch(ctx, s.files, url, limit, has("k"))
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

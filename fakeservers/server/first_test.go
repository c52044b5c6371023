package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/record"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		first string
		want  record.First
	}{
		{"", record.FirstNothing},
		{"\x16\x03\x01\x02\x00\x01", record.FirstTLS},
		{"\x16\x03\x03\x00\x05\x01\x00", record.FirstTLS},
		{"\x16\x03\x01\x02\x00", record.FirstOther},
		{"\x16\x03\x01\x02\x00\x02", record.FirstOther},
		{"\x15\x03\x01\x00\x02\x02\x0a", record.FirstOther},
		{http2.ClientPreface, record.FirstHTTP2},
		{http2.ClientPreface + "\x00\x00\x00\x04", record.FirstHTTP2},
		{http2.ClientPreface[:23], record.FirstOther},
		{"GET / HTTP/1.1\r\n", record.FirstHTTP1},
		{"GET / HTTP/1.0\n", record.FirstHTTP1},
		{"GET / HTTP/1.1", record.FirstHTTP1},
		{"OPTIONS * HTTP/1.1\r\n", record.FirstHTTP1},
		{"CONNECT a:80 HTTP/1.1\r\n", record.FirstHTTP1},
		{"GET /" + strings.Repeat("a", 5000) + " HTTP/1.1\r\n", record.FirstHTTP1},
		{"GET /", record.FirstOther},
		{"GET / HTTP/2.0\r\n", record.FirstOther},
		{"GET  HTTP/1.1\r\n", record.FirstOther},
		{"get / HTTP/1.1\r\n", record.FirstOther},
		{"GET /\x01 HTTP/1.1\r\n", record.FirstOther},
		{"SSH-2.0-OpenSSH_9.6\r\n", record.FirstOther},
		{"\x00", record.FirstOther},
	} {
		if got := Classify([]byte(tc.first)); got != tc.want {
			t.Errorf("%.40q: %s, want %s", tc.first, got, tc.want)
		}
	}
}

// clientHello returns what a client with the given configuration sends first.
func clientHello(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	here, there := net.Pipe()
	defer there.Close()
	go func() {
		// It can only fail: no answer.
		_ = tls.Client(here, config).HandshakeContext(context.Background())
	}()
	hello := make([]byte, maxHello)
	n, err := there.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return hello[:n]
}

func TestParseClientHello(t *testing.T) {
	t.Parallel()
	hello := clientHello(t, &tls.Config{ServerName: "web.example", NextProtos: []string{"h2", "http/1.1"}, MaxVersion: tls.VersionTLS12})
	got := parseClientHello(hello)
	if got == nil || got.CipherSuites == 0 {
		t.Fatalf("parsed %+v", got)
	}
	got.CipherSuites = 0
	want := &record.ClientHello{Versions: []string{"1.2"}, ALPN: []string{"h2", "http/1.1"}, ServerName: "web.example"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ClientHello (-want +got):\n%s", diff)
	}
	for name, first := range map[string][]byte{
		"incomplete": hello[:len(hello)-1], "nothing": nil, "HTTP": []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		if got := parseClientHello(first); got != nil {
			t.Errorf("%s: parsed %+v", name, got)
		}
	}
}

func FuzzFirst(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Add([]byte(http2.ClientPreface))
	f.Add(clientHello(f, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}))
	known := []record.First{record.FirstTLS, record.FirstHTTP2, record.FirstHTTP1, record.FirstNothing, record.FirstOther}
	f.Fuzz(func(t *testing.T, first []byte) {
		kind := Classify(first)
		if !strings.Contains(strings.Join(asStrings(known), " "), string(kind)) {
			t.Errorf("classified as %q", kind)
		}
		if (kind == record.FirstNothing) != (len(first) == 0) {
			t.Errorf("%q is %s", first, kind)
		}
		hello := parseClientHello(first)
		if hello == nil {
			return
		}
		if kind != record.FirstTLS {
			t.Errorf("%q is %s, and has a ClientHello", first, kind)
		}
		if len(hello.ALPN) > maxListed || len(hello.Versions) > maxListed || !utf8.ValidString(strings.Join(hello.ALPN, "")+hello.ServerName) {
			t.Errorf("recorded as %+v", hello)
		}
	})
}

func asStrings(kinds []record.First) []string {
	var names []string
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	return names
}

func TestAppendFirstKeepsTheSameHoweverItArrives(t *testing.T) {
	t.Parallel()
	for _, whole := range [][]byte{
		bytes.Repeat([]byte{recordHandshake}, 2*maxHello),
		bytes.Repeat([]byte{'a'}, 2*maxHello),
		[]byte("short"),
		nil,
	} {
		want := appendFirst(nil, whole)
		for _, size := range []int{1, 7, maxFirst, maxHello} {
			var got []byte
			for rest := whole; len(rest) > 0; {
				n := min(size, len(rest))
				got = appendFirst(got, rest[:n])
				rest = rest[n:]
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%.5q in pieces of %d: kept %d bytes, want %d", whole, size, len(got), len(want))
			}
		}
		if len(want) > maxHello {
			t.Errorf("kept %d bytes", len(want))
		}
	}
}

func TestCutIsBoundedText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"web":                        "web",
		strings.Repeat("a", 600):     strings.Repeat("a", maxText) + "...",
		"\xff/":                      "\uFFFD/",
		strings.Repeat("é", maxText): strings.Repeat("é", maxText/2) + "...",
	} {
		if got := cut(text); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}

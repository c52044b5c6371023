package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/rehearse"
)

func TestAnOperatorIsStartedAgain(t *testing.T) {
	t.Parallel()
	o := &operators{exits: make(map[string][]string)}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	command := process.Command{Path: "/bin/sh", Args: []string{"-c", "echo 'panic: no such field' >&2; exit 2"}, Stdout: io.Discard, Stderr: io.Discard}
	o.running.Go(func() { o.keep(ctx, "shop", command) })
	var all []string
	if !await.Until(ctx, 20*time.Second, func() bool {
		all = append(all, o.take()["shop"]...)
		return len(all) >= 2
	}) {
		t.Fatal("not started again")
	}
	if !strings.Contains(all[0], "no such field") {
		t.Errorf("%q", all)
	}
	if err := o.stop(); err != nil {
		t.Error(err)
	}
	if again := o.take(); len(again["shop"]) > 1 {
		t.Errorf("it runs on: %v", again)
	}
}

func TestArgumentsHaveVariables(t *testing.T) {
	t.Parallel()
	is := expand([]string{"--port=$(WEBHOOK_PORT)", "$(OTHER)", "--in=$(POD_NAMESPACE)"}, []string{"WEBHOOK_PORT=9443", "POD_NAMESPACE=shop"})
	if want := []string{"--port=9443", "$(OTHER)", "--in=shop"}; !slices.Equal(is, want) {
		t.Errorf("%q, want %q", is, want)
	}
}

func TestWebhooksHaveACertificateThatTheirClientsTrust(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, env, err := serving(rehearse.Operator{Name: "shop"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(e.Address)
	if want := []string{"WEBHOOK_PORT=" + port, "WEBHOOK_CERTS=" + dir}; !slices.Equal(env, want) {
		t.Errorf("%q, want %q", env, want)
	}
	server := &http.Server{Addr: e.Address, Handler: http.NotFoundHandler()} //nolint:gosec // the test ends it
	defer server.Close()
	go func() { _ = server.ListenAndServeTLS(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")) }()
	o := operators{listen: []string{e.Address}}
	if err := o.await(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(e.Trust)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}} //nolint:gosec // a client of a test
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+e.Address, nil)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
}

package engine

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/record"
)

func TestWhatIsGotten(t *testing.T) {
	t.Parallel()
	const list, refusal = `{"kind":"List","items":[]}`, `{"kind":"Status","reason":"NotFound","message":"not here"}`
	for body, want := range map[string]record.APIAnswer{
		list:    {Bytes: len(list), Response: json.RawMessage(list)},
		refusal: {Bytes: len(refusal), Response: json.RawMessage(refusal), Reason: "NotFound", Message: "not here"},
		"ok":    {Bytes: 2, Response: "ok"},
	} {
		want.Path, want.Code = "/path", 200
		if diff := cmp.Diff(want, gotten("/path", 200, []byte(body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// TestGetFrom: what is at a path is read whatever the status, with its query.
func TestGetFrom(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(r.RequestURI + " " + r.Header.Get("Accept")))
	}))
	defer server.Close()
	body, code, err := getFrom(t.Context(), &rest.Config{Host: server.URL}, "/openapi/v3?a=b", "application/yaml")
	if string(body) != "/openapi/v3?a=b application/yaml" || code != http.StatusNotFound || err != nil {
		t.Errorf("got %s, %d, %v", body, code, err)
	}
	server.Close()
	if _, _, err := getFrom(t.Context(), &rest.Config{Host: server.URL}, "/", ""); err == nil {
		t.Error("no error from a server that is gone")
	}
}

// TestGetFromAsksOverAConnectionOfItsOwn: it is HTTP/1.1, also where a server has HTTP/2.
func TestGetFromAsksOverAConnectionOfItsOwn(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Proto + " " + r.Header.Get("Connection")))
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	endpoint := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
	if body, _, err := getFrom(t.Context(), endpoint, "/", ""); string(body) != "HTTP/1.1 close" || err != nil {
		t.Errorf("got %q, %v", body, err)
	}
}

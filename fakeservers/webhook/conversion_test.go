package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/record"
)

// startConverter has a conversion webhook listen.
func startConverter(t *testing.T, to Conversion) (*Converter, *record.History, *http.Client) {
	t.Helper()
	c, history, client := listening(t, "runners.example.com", StartConverter)
	c.Set(to)
	return c, history, client
}

// aReview is what an API server asks about a custom resource.
const aReview = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {"uid": "1", "desiredAPIVersion": "example.com/v1", "objects": [
	{"apiVersion": "example.com/v1beta1", "kind": "Runner", "metadata": {"name": "a", "namespace": "default"}, "spec": {"mode": "TLS"}}]}}`

// convert asks a conversion webhook, as an API server does.
func convert(t *testing.T, client *http.Client, url string) (*conversionResponse, error) {
	t.Helper()
	resp, err := client.Post(url, "application/json", strings.NewReader(aReview))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answered review
	if err := json.NewDecoder(resp.Body).Decode(&answered); err != nil {
		t.Fatal(err)
	}
	if answered.Kind != "ConversionReview" || answered.APIVersion != "apiextensions.k8s.io/v1" || answered.Request != nil || answered.Response.UID != "1" {
		t.Errorf("the answer is %+v", answered)
	}
	return answered.Response, nil
}

// conversions are what the record has of them, without how long they took.
func conversions(events []record.Event) (all []record.ConversionCalled) {
	for _, call := range record.All[record.ConversionCalled](events) {
		call.Seconds = 0
		all = append(all, call)
	}
	return all
}

func TestHowAWebhookConverts(t *testing.T) {
	t.Parallel()
	loses := func(_ context.Context, object map[string]any) error {
		delete(object, "spec")
		return nil
	}
	const kept = `{"apiVersion":"example.com/v1","kind":"Runner","metadata":{"name":"a","namespace":"default"},"spec":{"mode":"TLS"}}`
	const lost = `{"apiVersion":"example.com/v1","kind":"Runner","metadata":{"name":"a","namespace":"default"}}`
	for name, tc := range map[string]struct {
		does    Conversion
		want    string
		patch   []string
		message string
	}{
		"as it is":          {does: Conversion{}, want: kept, patch: []string{}},
		"late, but in time": {does: Conversion{Delay: time.Millisecond}, want: kept, patch: []string{}},
		"with a field less": {does: Conversion{Rewrite: loses}, want: lost, patch: []string{"remove /spec"}},
		"a refusal":         {does: Conversion{Refusal: "not today", Rewrite: loses}, message: "not today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, history, client := startConverter(t, tc.does)
			got, err := convert(t, client, c.URL())
			if err != nil {
				t.Fatal(err)
			}
			called := record.ConversionCalled{To: "example.com/v1", Message: tc.message, Objects: []record.Converted{}}
			switch {
			case tc.message != "" && (got.Result.Status != metav1.StatusFailure || got.Result.Message != tc.message || len(got.ConvertedObjects) > 0):
				t.Errorf("it answers %+v", got)
			case tc.message == "":
				text, err := json.Marshal(&got.ConvertedObjects[0])
				if err != nil || got.Result.Status != metav1.StatusSuccess || string(bytes.TrimSpace(text)) != tc.want {
					t.Errorf("it answers %s, %v", text, err)
				}
				called.Objects = append(called.Objects, record.Converted{Object: "default/a", From: "example.com/v1beta1", Patch: tc.patch})
			}
			if diff := cmp.Diff([]record.ConversionCalled{called}, conversions(history.Events())); diff != "" {
				t.Errorf("the record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAConversionWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	cannot := func(context.Context, map[string]any) error { return errors.New("no such type") }
	for want, does := range map[string]Conversion{
		"away": {Away: true}, "did not wait": {Delay: time.Hour}, "no such type": {Rewrite: cannot},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c, history, client := startConverter(t, does)
			client.Timeout = 2 * time.Second
			if got, err := convert(t, client, c.URL()); err == nil {
				t.Errorf("it answers %+v", got)
			}
			if err := history.Wait(t.Context(), func(events []record.Event) bool { return len(conversions(events)) == 1 }); err != nil {
				t.Fatal(err)
			}
			if got := conversions(history.Events())[0].Error; !strings.Contains(got, want) {
				t.Errorf("the record says %q", got)
			}
		})
	}
}

func TestWhatIsNoConversionReview(t *testing.T) {
	t.Parallel()
	c, history, client := startConverter(t, Conversion{})
	resp, err := client.Post(c.URL(), "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || len(conversions(history.Events())) > 0 {
		t.Errorf("it answers %s", resp.Status)
	}
	if _, err := StartConverter(Config{Host: "no address"}); err == nil {
		t.Error("it listens at no address")
	}
}

package typedclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain plays a client if there is nothing in its environment, as there is nothing in that
// of a real one.
func TestMain(m *testing.M) {
	if len(os.Environ()) > 0 {
		os.Exit(m.Run())
	}
	var request struct {
		Update   *Update
		Recode   *Recode
		Template *struct{}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		panic(err)
	}
	switch u := request.Update; {
	case request.Template != nil:
		_ = json.NewEncoder(os.Stdout).Encode(Answer{Object: []byte(ofTemplate)})
	case u == nil:
		_ = json.NewEncoder(os.Stdout).Encode(Answer{Object: []byte(request.Recode.MediaType)})
	case u.Name == "away":
		time.Sleep(time.Hour)
	case u.Name == "broken":
		fmt.Fprintln(os.Stderr, "no server")
		os.Exit(3)
	case u.Name == "odd":
		fmt.Println(`{"error": "v1.90.1 has no type Odd"}`)
	default:
		fmt.Printf(`{"codes": {"200": %d, "409": 1}, "reason": "Conflict", "object": "e30="}`, u.Times)
	}
	os.Exit(0)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	answer, err := Update{Name: "tls", Times: 7}.Do(t.Context(), os.Args[0])
	if err != nil || answer.Codes["200"] != 7 || answer.Codes["409"] != 1 || answer.Reason != "Conflict" || string(answer.Object) != "{}" {
		t.Errorf("it answers %+v, %v", answer, err)
	}
}

func TestRecode(t *testing.T) {
	t.Parallel()
	if text, err := (Recode{MediaType: Protobuf}).Do(t.Context(), os.Args[0]); err != nil || string(text) != Protobuf {
		t.Errorf("it answers %q, %v", text, err)
	}
}

func TestWhatAClientCantDo(t *testing.T) {
	t.Parallel()
	if _, err := (Update{Name: "odd"}).Do(t.Context(), os.Args[0]); !errors.Is(err, ErrClient) || !strings.Contains(err.Error(), "v1.90.1 has no type Odd") {
		t.Errorf("the error is %v", err)
	}
	_, err := Update{Name: "broken"}.Do(t.Context(), os.Args[0])
	if err == nil || errors.Is(err, ErrClient) || !strings.Contains(err.Error(), "exit status 3: no server") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("not in time"))
	defer cancel()
	if _, err := (Update{Name: "away"}).Do(ctx, os.Args[0]); err == nil || !strings.Contains(err.Error(), "not in time") {
		t.Errorf("the error is %v", err)
	}
}

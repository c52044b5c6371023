package image_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// Who reads sees each end once, after all that was written before, and then the last.
func TestPipeEnds(t *testing.T) {
	t.Parallel()
	pipe, err := image.NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	go func() {
		for _, text := range []string{"one", "two"} {
			_, err := io.WriteString(pipe, text)
			if err := errors.Join(err, pipe.End()); err != nil {
				t.Error(err)
			}
		}
		_, err := io.WriteString(pipe, "three")
		if err := errors.Join(err, pipe.CloseWrite()); err != nil {
			t.Error(err)
		}
	}()
	for _, want := range []string{"one", "two", "three", ""} {
		if got, err := io.ReadAll(pipe); err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
}

func TestPipeCloseEndsAll(t *testing.T) {
	t.Parallel()
	pipe, err := image.NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(pipe, "unread"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- pipe.End() }()
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
	if <-ended == nil {
		t.Error("End returned, and nothing was read")
	}
	if _, err := pipe.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read returned %v", err)
	}
}

package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
)

// log is a file of JSON lines to which more are added.
type log[T any] struct {
	path string
	all  []T
}

func (l *log[T]) read() error {
	text, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for line := range bytes.Lines(text) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return err
		}
		l.all = append(l.all, v)
	}
	return nil
}

func (l *log[T]) add(v T) (err error) {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.all = append(l.all, v)
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

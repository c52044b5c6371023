package strict

import (
	"errors"
	"fmt"
	"testing"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	at := func(line, column int, message string) Problem {
		return Problem{Position: Position{"f.yaml", line, column}, Message: message}
	}
	cause := errors.New("c")
	located := At("f.yaml:2:9", cause)
	err := Join(
		errors.Join(at(3, 1, "d"), errors.New("no place"), errors.Join(at(2, 10, "b"))), nil,
		&Errors{Problems: []Problem{at(2, 1, "a"), at(3, 1, "d")}}, located, errors.New("no place"), At("somewhere", errors.New("x")),
	)
	const want = "f.yaml:2:1: a\nf.yaml:2:9: c\nf.yaml:2:10: b\nf.yaml:3:1: d\nno place\nsomewhere: x"
	if fmt.Sprint(err) != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if err := Join(nil, errors.Join(nil)); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

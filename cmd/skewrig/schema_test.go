package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/docs/schemas"
)

func TestSchema(t *testing.T) {
	for _, name := range schemas.Names() {
		code, stdout, stderr := skewrig(t, "schema", name)
		if code != 0 || !json.Valid([]byte(stdout)) || !strings.Contains(stdout, "2020-12") {
			t.Errorf("%s: exit code %d, %s", name, code, stderr)
		}
		if code, help, _ := skewrig(t, "schema", "--help"); code != 0 || !strings.Contains(help, "  "+name+" ") {
			t.Errorf("the help does not tell of %s", name)
		}
	}
	if code, stdout, stderr := skewrig(t, "schema", "reports"); code != exitUsage || stdout != "" || !strings.Contains(stderr, "record, rehearsal, report") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

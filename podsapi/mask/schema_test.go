package mask

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// The table of fields, made from the tags of the Go types, is that of the .proto
// files: same messages, same names, same numbers.
func TestSchemaIsThatOfTheProtoFiles(t *testing.T) {
	t.Parallel()
	declared := map[string]map[string]int{}
	for _, file := range []string{"k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/apis/meta/v1"} {
		dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", file).Output()
		if err != nil {
			t.Skipf("the go command, which knows where the .proto files are: %v", err)
		}
		readProto(t, filepath.Join(strings.TrimSpace(string(dir)), "generated.proto"), declared)
	}
	for name, m := range reachable(podMessage(), map[string]*message{}) {
		got := map[string]int{}
		for _, f := range m.fields {
			got[f.name] = int(f.number)
		}
		if diff := cmp.Diff(declared[name], got); diff != "" {
			t.Errorf("message %s (-declared +got):\n%s", name, diff)
		}
	}
}

// readProto adds the fields of every message of a file, by name, and their
// numbers.
func readProto(t *testing.T, path string, to map[string]map[string]int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begins := regexp.MustCompile(`^message (\w+) {$`)
	holds := regexp.MustCompile(`^  (?:optional|repeated|map<).* (\w+) = (\d+)(?: \[.*\])?;$`)
	var fields map[string]int
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\n")
		if match := begins.FindStringSubmatch(line); match != nil {
			fields = map[string]int{}
			to[match[1]] = fields
		}
		if match := holds.FindStringSubmatch(line); match != nil {
			fields[match[1]], _ = strconv.Atoi(match[2])
		}
	}
}

func reachable(m *message, found map[string]*message) map[string]*message {
	if found[m.name] != nil {
		return found
	}
	found[m.name] = m
	for _, f := range m.fields {
		if f.kind == nested {
			reachable(f.message, found)
		}
	}
	return found
}

// Whatever a marshalled pod has on the wire, the table has too.
func TestSchemaHasWhatIsOnTheWire(t *testing.T) {
	t.Parallel()
	for seed := range int64(50) {
		checkWire(t, podMessage(), marshal(t, randomPod(seed)))
	}
}

func checkWire(t *testing.T, m *message, wire []byte) {
	t.Helper()
	for len(wire) > 0 {
		number, typ, n := protowire.ConsumeField(wire)
		if n < 0 {
			t.Fatalf("%s: %v", m.name, protowire.ParseError(n))
		}
		var f *field
		for _, candidate := range m.fields {
			if candidate.number == number {
				f = candidate
			}
		}
		if f == nil {
			t.Errorf("%s: field %d is on the wire, and not in the table", m.name, number)
		} else if f.kind == nested {
			_, _, tag := protowire.ConsumeTag(wire)
			body, _ := protowire.ConsumeBytes(wire[tag:])
			if typ != protowire.BytesType {
				t.Errorf("%s: %s is no message on the wire", m.name, f.name)
			}
			checkWire(t, f.message, body)
		}
		wire = wire[n:]
	}
}

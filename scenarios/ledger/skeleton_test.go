package ledger

import (
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/golden"
)

// made is the README of an invented enhancement.
const made = `<!--
Advice for authors.
-->
# KEP-9999: Made Up

- [Summary](#summary)

## Summary

It is made up. Nobody wants it.

## Design Details

### Graduation Criteria

#### Alpha

- It works behind a gate
- Tests exist

#### Beta

- No bugs

## Production Readiness Review Questionnaire

###### Can it be turned off?

Yes. By the gate.
`

// TestSkeleton: a ledger can be read as it is written, and has the sentences by line.
func TestSkeleton(t *testing.T) {
	t.Parallel()
	kep, err := ReadKEP(made)
	if err != nil {
		t.Fatal(err)
	}
	text := Skeleton(kep, []Starter{{Name: "gate", Statement: `It says "kept".`, PRR: "Can it be turned off?"}})
	golden.Check(t, "testdata/skeleton.yaml", text)
	requirements, err := Load(fstest.MapFS{"kep-9999.yaml": {Data: []byte(text)}}, []string{"kep-9999.yaml"})
	if err != nil || len(requirements) != 4 {
		t.Errorf("%d requirements, %v", len(requirements), err)
	}
}

func TestReadKEPWithALink(t *testing.T) {
	t.Parallel()
	kep, err := ReadKEP("# [KEP-9998](https://example.com/9998): Linked\n\n## Summary\n\nText.\n")
	if err != nil || kep.Number != 9998 || kep.Title != "KEP-9998: Linked" {
		t.Errorf("%+v, %v", kep, err)
	}
}

func TestReadKEPRefusesOtherTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# A title\n\n## Summary\n\nText.\n", "# KEP-1: One\n\nText.\n"} {
		if kep, err := ReadKEP(text); err == nil {
			t.Errorf("%q is read as %v", text, kep)
		}
	}
}

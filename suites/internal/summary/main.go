// Summary prints why specs were skipped or failed, from the JSON report of a run of ginkgo.
//
// Ginkgo prints a failure where it happens, and at the end only its place in the
// code. Where only the end of a log is kept, the reason is lost. Why a spec skipped
// itself it does not print at all.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// maxMessage is how much of a failure's message is printed, in bytes: its end. A message that
// has the output of skewrig ends with what weighs most.
const maxMessage = 2000

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("Usage: summary REPORT.json")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var suites []types.Report
	if err := json.Unmarshal(text, &suites); err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	write(os.Stdout, suites)
}

// write writes what was skipped, then what failed in each suite: the suite as a whole, and its specs.
func write(w io.Writer, suites []types.Report) {
	for _, suite := range suites {
		skipped := make(map[string][]string) // specs by the reason
		for _, spec := range suite.SpecReports.WithState(types.SpecStateSkipped) {
			skipped[spec.FailureMessage()] = append(skipped[spec.FailureMessage()], spec.FullText())
		}
		delete(skipped, "") // left out by a filter
		for _, reason := range slices.Sorted(maps.Keys(skipped)) {
			what := skipped[reason][0]
			if more := len(skipped[reason]) - 1; more > 0 {
				what = fmt.Sprintf("%s, and %d more", what, more)
			}
			fmt.Fprintf(w, "%s: skipped: %s\n%s\n", suite.SuiteDescription, what, end(reason))
		}
	}
	for _, suite := range suites {
		for _, reason := range suite.SpecialSuiteFailureReasons {
			fmt.Fprintf(w, "%s: %s\n", suite.SuiteDescription, reason)
		}
		for _, spec := range suite.SpecReports.WithState(types.SpecStateFailureStates) {
			fmt.Fprintf(w, "%s: %s\n%s\n", suite.SuiteDescription, spec.FullText(), end(spec.FailureMessage()))
		}
	}
}

// end is the end of a message, in whole lines if it has several.
func end(message string) string {
	message = strings.TrimSpace(message)
	if len(message) <= maxMessage {
		return message
	}
	message = message[len(message)-maxMessage:]
	if _, rest, cut := strings.Cut(message, "\n"); cut {
		message = rest
	}
	return "[...]\n" + strings.ToValidUTF8(message, "")
}

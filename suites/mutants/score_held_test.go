package mutants

import (
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/suites/mutants/mutation"
)

var _ = Describe("the score", func() {
	var mutant mutation.Mutant

	BeforeEach(func() { mutant = mutation.Mutant{ID: 1} })

	DescribeTable("counts mutants of one rig once the control after them holds", func(control trial, outcome mutation.Outcome) {
		control.Cell = "a"
		s := &score{mutants: []mutation.Mutant{mutant}}
		s.sights.all = []sight{{Cell: "a", Mutants: []int{1}}}
		s.trials.all = held([]trial{{Mutant: 1, Cell: "a", Found: "fail counted"}, control}, true)
		Expect(s.result(mutant).Outcome).To(Equal(outcome))
	},
		Entry("it holds", trial{}, mutation.Killed),
		Entry("it is red", trial{Found: "fail other"}, mutation.Untried),
		Entry("the machine was too slow for it", trial{Unclear: true}, mutation.Untried),
	)

	It("takes a check that was red in a control for no proof in its cell", func() {
		s := &score{mutants: []mutation.Mutant{mutant}}
		s.sights.all = []sight{{Cell: "a", Mutants: []int{1}}, {Cell: "b", Mutants: []int{1}}}
		s.trials.all = []trial{{Cell: "a", Found: "fail counted"}, {Mutant: 1, Cell: "a", Found: "fail counted"}}
		Expect(s.result(mutant).Outcome).To(Equal(mutation.Survived))

		s.trials.all = append(s.trials.all, trial{Mutant: 1, Cell: "b", Found: "fail counted"})
		Expect(s.result(mutant).Outcome).To(Equal(mutation.Killed))
	})

	It("has a heading for each target", func() {
		var named []string
		for _, t := range mutation.Targets() {
			named = append(named, t.Name)
		}
		Expect(named).To(ConsistOf(slices.Collect(maps.Keys(targets))))
	})
})

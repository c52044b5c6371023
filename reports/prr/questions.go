// Package prr answers the questionnaire of the production readiness review from
// saved runs. It is pure. Nothing is said that no cell shows; a question that no
// run can answer stays open.
package prr

// Section is a section of the questionnaire.
type Section struct {
	Heading   string
	Questions []string
}

// Questionnaire is the questionnaire of the KEP template. Headings and questions
// are names: they stand in every KEP in exactly these words.
func Questionnaire() []Section {
	return []Section{
		{"Feature Enablement and Rollback", []string{
			Enablement,
			Defaults,
			Disabled,
			Reenabled,
			Tests,
		}},
		{"Rollout, Upgrade and Rollback Planning", []string{
			Rollouts,
			RollbackMetrics,
			Upgrades,
			"Is the rollout accompanied by any deprecations and/or removals of features, APIs, fields of API types, flags, etc.?",
		}},
		{"Monitoring Requirements", []string{
			InUse,
			Working,
			"What are the reasonable SLOs (Service Level Objectives) for the enhancement?",
			Indicators,
			"Are there any missing metrics that would be useful to have to improve observability of this feature?",
		}},
		{"Dependencies", []string{
			"Does this feature depend on any specific services running in the cluster?",
		}},
		{"Scalability", []string{
			"Will enabling / using this feature result in any new API calls?",
			"Will enabling / using this feature result in introducing new API types?",
			"Will enabling / using this feature result in any new calls to the cloud provider?",
			Sizes,
			"Will enabling / using this feature result in increasing time taken by any operations covered by existing SLIs/SLOs?",
			"Will enabling / using this feature result in non-negligible increase of resource usage (CPU, RAM, disk, IO, ...) in any components?",
			"Can enabling / using this feature result in resource exhaustion of some node resources (PIDs, sockets, inodes, etc.)?",
		}},
		{"Troubleshooting", []string{
			"How does this feature react if the API server and/or etcd is unavailable?",
			"What are other known failure modes?",
			"What steps should be taken if SLOs are not being met to determine the problem?",
		}},
	}
}

// The questions that programs answer. The answer to Enablement begins with the feature gate.
const (
	Enablement      = "How can this feature be enabled / disabled in a live cluster?"
	Defaults        = "Does enabling the feature change any default behavior?"
	Disabled        = "Can the feature be disabled once it has been enabled (i.e. can we roll back the enablement)?"
	Reenabled       = "What happens if we reenable the feature if it was previously rolled back?"
	Tests           = "Are there any tests for feature enablement/disablement?"
	Rollouts        = "How can a rollout or rollback fail? Can it impact already running workloads?"
	RollbackMetrics = "What specific metrics should inform a rollback?"
	InUse           = "How can an operator determine if the feature is in use by workloads?"
	Working         = "How can someone using this feature know that it is working for their instance?"
	Indicators      = "What are the SLIs (Service Level Indicators) an operator can use to determine the health of the service?"
	Upgrades        = "Were upgrade and rollback tested? Was the upgrade->downgrade->upgrade path tested?"
	Sizes           = "Will enabling / using this feature result in increasing size or count of the existing API objects?"
)

// Title is the heading of the questionnaire as a whole.
const Title = "Production Readiness Review Questionnaire"

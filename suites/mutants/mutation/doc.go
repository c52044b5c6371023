// Package mutation changes a component in every place, one at a time, and lets
// the catalog find each change. All changes of a component are compiled into one
// binary, and an environment variable selects one of them. So a mutant costs a
// run of some cells, and no build.
//
// Generate rewrites Go files, which is pure. The tests build the component, find
// which cells can see which mutant, and run those.
package mutation

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// seed is a flag that shuffles cells: off, a random seed, or a given one.
type seed struct{ value uint64 }

// random is the value of the flag that chooses a seed.
const random = "on"

func (s *seed) register(cmd *cobra.Command) {
	cmd.Flags().Var(s, "shuffle", "begin the cells in a random order: on, or the seed of an earlier run (default: the longest first)")
	cmd.Flags().Lookup("shuffle").NoOptDefVal = random
}

// String implements pflag.Value.
func (s *seed) String() string {
	if s.value == 0 {
		return ""
	}
	return strconv.FormatUint(s.value, 10)
}

// Type implements pflag.Value.
func (s *seed) Type() string { return "seed" }

// Set implements pflag.Value.
func (s *seed) Set(text string) error {
	if text == random {
		s.value = 1 + uint64(rand.Uint32())
		return nil
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil || value == 0 {
		return fmt.Errorf("supported values: %s, or a number from 1", random)
	}
	s.value = value
	return nil
}

// tell says which order it is.
func (s *seed) tell(cmd *cobra.Command) {
	if s.value != 0 {
		fmt.Fprintf(news(cmd), "Cells begin in a random order; --shuffle=%s is the same one\n", s)
	}
}

// named are arguments of the program, with the seed that was chosen.
func (s *seed) named(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--shuffle" || arg == "--shuffle="+random {
			args[i] = "--shuffle=" + s.String()
		}
	}
	return args
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/harness/existing"
)

// kubeconfig are the flags that say which existing cluster is meant, as those of kubectl do.
type kubeconfig struct{ file, context string }

// with says what the cluster is for: --jobs.
func (k *kubeconfig) register(cmd *cobra.Command, with string) {
	with = "with " + with + ": "
	cmd.Flags().StringVar(&k.file, "kubeconfig", "", with+"the kubeconfig of the cluster (default: as kubectl)")
	cmd.Flags().StringVar(&k.context, "context", "", with+"the context in the kubeconfig (default: its current one)")
}

func (k *kubeconfig) config() existing.Config {
	return existing.Config{Kubeconfig: k.file, Context: k.context}
}

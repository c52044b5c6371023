package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/podsapi/ask"
	"github.com/skewrig/skewrig/podsapi/show"
)

// askFlags say whom to ask for what, and how to show it.
type askFlags struct {
	socket socketFlag
	fields string
	format choice
}

func (f *askFlags) register(cmd *cobra.Command) {
	f.socket.register(cmd)
	cmd.Flags().StringVar(&f.fields, "fields", "", "a field mask, such as metadata.name,status.phase (default: all fields)")
	f.format.register(cmd, "output", "o", "table", "table, yaml or json", "table", "yaml", "json")
}

// ask opens the socket and asks. That the server has no field masks is said at the
// end.
func (f *askFlags) ask(cmd *cobra.Command, do func(*ask.Node, show.Format) error) error {
	socket, err := f.socket.find()
	if err != nil {
		return err
	}
	node, err := ask.Open(socket, f.fields)
	if err != nil {
		return err
	}
	defer node.Close()
	err = app.Failed(do(node, show.Format(f.format.value)))
	if node.MaskIgnored() {
		fmt.Fprintln(cmd.ErrOrStderr(), "The server ignored the field mask and sent more fields; skewrig removed them. Released kubelets have no field masks.")
	}
	return err
}

func newPodsList() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pods of the node, as its kubelet knows them",
		Example: `  skewrig podsapi list
  skewrig podsapi list --socket ./pods.sock --fields metadata.name,status.phase -o yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.ask(cmd, func(node *ask.Node, format show.Format) error {
				pods, err := node.List(cmd.Context())
				if err != nil {
					return err
				}
				return show.List(cmd.OutOrStdout(), format, pods, time.Now())
			})
		},
	}
	f.register(cmd)
	return cmd
}

func newPodsGet() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "get UID | NAMESPACE/NAME | NAME",
		Short: "Get a pod of the node",
		Example: `  skewrig podsapi get kube-system/coredns-5b4d8 -o yaml
  skewrig podsapi get 7e5a1c9e-6ff1-4f0d-9c1c-1b2f6a3c9d10`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.ask(cmd, func(node *ask.Node, format show.Format) error {
				pod, err := node.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return show.Pod(cmd.OutOrStdout(), format, pod, time.Now())
			})
		},
	}
	f.register(cmd)
	return cmd
}

func newPodsWatch() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Watch the pods of the node until Ctrl-C",
		Long: `Print one event per line: all pods, INITIAL_SYNC_COMPLETE, then each change. In
JSON, an event is one object per line, with type and object; in YAML, one document.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.ask(cmd, func(node *ask.Node, format show.Format) error {
				events := show.NewWatch(cmd.OutOrStdout(), format)
				return node.Watch(cmd.Context(), func(e ask.Event) error { return events.Event(e.Type, e.Pod, time.Now()) })
			})
		},
	}
	f.register(cmd)
	return cmd
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/podsapi/ask"
	"github.com/skewrig/skewrig/podsapi/client"
)

var _ = register(useCluster, newPodsAPI)

func newPodsAPI() *cobra.Command {
	return newParent(&cobra.Command{
		Use:   "podsapi",
		Short: "Read, check and mock a kubelet's Pods API (KEP-4188)",
		Long: `A kubelet serves the Pods API on a unix socket to the agents of its node. list,
get and watch read it; check checks it against KEP-4188, also on a real machine;
serve simulates a node for an agent in development.`,
	}, false, newPodsList(), newPodsGet(), newPodsWatch(), newPodsCheck(), newPodsServe())
}

// socketFlag is the flag that names the socket to ask.
type socketFlag struct{ path string }

func (f *socketFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "socket", "", fmt.Sprintf("the socket to connect to (default: %s in %s)", strings.Join(client.Places, " or "), ask.KubeletDir))
}

// find is the socket that is named, or the one that is there.
func (f *socketFlag) find() (string, error) {
	if f.path != "" {
		return f.path, nil
	}
	found, err := ask.Find(ask.KubeletDir)
	return found, app.Failed(err)
}

// askFlags say whom to ask for what, and how to show it.
type askFlags struct {
	socket socketFlag
	fields string
	format choice
}

// question asks a node something, by the arguments of a command, and prints the
// answer.
type question func(ctx context.Context, w io.Writer, node *ask.Node, args []string, format ask.Format) error

// asks makes a command ask a question.
func asks(cmd *cobra.Command, q question) *cobra.Command {
	var f askFlags
	f.socket.register(cmd)
	cmd.Flags().StringVar(&f.fields, "fields", "", "a field mask, such as metadata.name,status.phase (default: all fields)")
	f.format.register(cmd, "output", "o", "table", "table, yaml or json", "table", "yaml", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.ask(cmd, args, q) }
	return cmd
}

// ask opens the socket and asks. That the server has no field masks is said at the
// end.
func (f *askFlags) ask(cmd *cobra.Command, args []string, q question) error {
	socket, err := f.socket.find()
	if err != nil {
		return err
	}
	node, err := ask.Open(socket, f.fields)
	if err != nil {
		return err
	}
	defer node.Close()
	err = q(cmd.Context(), cmd.OutOrStdout(), node, args, ask.Format(f.format.value))
	if node.MaskIgnored() {
		fmt.Fprintln(cmd.ErrOrStderr(), "The server ignored the field mask and sent more fields; skewrig removed them. Released kubelets have no field masks.")
	}
	return app.Failed(err)
}

func newPodsList() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "list",
		Short: "List the pods of the node, as its kubelet knows them",
		Example: `  skewrig podsapi list
  skewrig podsapi list --socket ./pods.sock --fields metadata.name,status.phase -o yaml`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, w io.Writer, node *ask.Node, _ []string, format ask.Format) error {
		pods, err := node.List(ctx)
		if err != nil {
			return err
		}
		return ask.Write(w, format, pods, time.Now())
	})
}

func newPodsGet() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "get UID | NAMESPACE/NAME | NAME",
		Short: "Get a pod of the node",
		Example: `  skewrig podsapi get kube-system/coredns-5b4d8 -o yaml
  skewrig podsapi get 7e5a1c9e-6ff1-4f0d-9c1c-1b2f6a3c9d10`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, w io.Writer, node *ask.Node, args []string, format ask.Format) error {
		pod, err := node.Get(ctx, args[0])
		if err != nil {
			return err
		}
		return ask.WriteOne(w, format, pod, time.Now())
	})
}

func newPodsWatch() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "watch",
		Short: "Watch the pods of the node until Ctrl-C",
		Long: `Print one event per line: all pods, INITIAL_SYNC_COMPLETE, then each change. In
JSON, an event is one object per line, with type and object; in YAML, one document.`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, w io.Writer, node *ask.Node, _ []string, format ask.Format) error {
		events := ask.NewWatch(w, format)
		return node.Watch(ctx, func(e ask.Event) error { return events.Event(e.Type, e.Pod, time.Now()) })
	})
}

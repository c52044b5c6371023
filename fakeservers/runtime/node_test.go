package runtime

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// orders are those in which a runtime lists its handlers, in a number of calls.
func orders(t *testing.T, config Config, calls int) (all []string) {
	t.Helper()
	s := runtimeService{Runtime: newRuntime(config, "")}
	for range calls {
		resp, err := s.Status(t.Context(), &cri.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, h := range resp.RuntimeHandlers {
			names = append(names, h.Name)
		}
		all = append(all, strings.Join(names, ","))
	}
	return all
}

func TestRuntimeHandlersAreListedInOrder(t *testing.T) {
	t.Parallel()
	if all := slices.Compact(orders(t, Config{Handlers: []string{"runc", "crun"}}, 100)); !slices.Equal(all, []string{",runc,crun"}) {
		t.Errorf("the orders are %q", all)
	}
}

// TestRuntimeHandlersInAnotherOrder: that one of the six orders is not among so many is as likely
// as a broken machine.
func TestRuntimeHandlersInAnotherOrder(t *testing.T) {
	t.Parallel()
	all := orders(t, Config{Handlers: []string{"a", "b"}, Shuffled: true}, 500)
	slices.Sort(all)
	if all = slices.Compact(all); !slices.Equal(all, []string{",a,b", ",b,a", "a,,b", "a,b,", "b,,a", "b,a,"}) {
		t.Errorf("the orders are %q", all)
	}
}

func TestASandboxHasItsRuntimeHandler(t *testing.T) {
	t.Parallel()
	s := runtimeService{Runtime: newRuntime(Config{Handlers: []string{"runc", "crun"}, PodCIDR: netip.MustParsePrefix("127.77.0.0/16")}, "")}
	config := &cri.PodSandboxConfig{Metadata: &cri.PodSandboxMetadata{Name: "web", Namespace: "default"}}
	made, err := s.RunPodSandbox(t.Context(), &cri.RunPodSandboxRequest{Config: config, RuntimeHandler: "crun"})
	if err != nil {
		t.Fatal(err)
	}
	is, err := s.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: made.PodSandboxId})
	if err != nil || is.Status.RuntimeHandler != "crun" {
		t.Errorf("the sandbox is %v, error %v", is, err)
	}
	if list, err := s.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{}); err != nil || list.Items[0].RuntimeHandler != "crun" {
		t.Errorf("listed is %v, error %v", list, err)
	}
}

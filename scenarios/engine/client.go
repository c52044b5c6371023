package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/typedclient"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// mediaTypes are those of encodings.
var mediaTypes = map[action.Encoding]string{action.JSON: typedclient.JSON, action.Protobuf: typedclient.Protobuf}

// Update implements action.Rig.
func (r *run) Update(ctx context.Context, c action.Client, judged bool) error {
	o, err := r.asked(c.Update.Cluster)
	if err != nil {
		return err
	}
	ref := r.session.Names().Ref(c.Update)
	resource, err := o.find(&ref)
	if err != nil {
		return err
	}
	kind, err := o.mapper.KindFor(resource)
	if err != nil {
		return err
	}
	client, err := r.binary(ctx, build.Target{Component: build.TypedClient, Version: c.Version})
	if err != nil {
		return err
	}
	kubeconfig, err := r.kubeconfig(r.server(ref.Cluster))
	if err != nil {
		return err
	}
	answer, err := typedclient.Update{
		Kubeconfig: kubeconfig, MediaType: mediaTypes[c.Encoding],
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Resource: resource.Resource,
		Namespace: ref.Namespace, Name: ref.Name, Subresource: c.Subresource,
		Merge: r.session.Names().Within(c.Merge), Times: c.Times,
	}.Do(ctx, client.Path)
	if errors.Is(err, typedclient.ErrClient) {
		return fmt.Errorf("%w: %w", errUnmet, err)
	}
	if err != nil {
		return err
	}
	_, err = r.written(ctx, updated(ref, client, answer), judged, nil)
	return err
}

// updated is what became of a client's writes, as it is recorded.
func updated(ref spec.ObjectRef, client build.Binary, a typedclient.Answer) record.APIAnswer {
	answer := record.APIAnswer{
		Object: ref.String(), Client: fmt.Sprintf("%s@%s", client.Component, client.Version),
		Code: a.Code, Codes: a.Codes, Reason: a.Reason, Message: a.Message, Warning: a.Warnings,
	}
	if len(a.Object) > 0 {
		answer.Response = json.RawMessage(a.Object)
	}
	return answer
}

// kubeconfig returns the file by which a client connects to an API server.
func (r *run) kubeconfig(server string) (string, error) {
	files, err := provider.As[provider.Kubeconfigs](r.session)
	if err != nil {
		return "", err
	}
	return files.Kubeconfig(server)
}

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Stored is what etcd has at a key.
type Stored struct {
	Value []byte `json:"value"`
	// Revision is that of the last write of the key.
	Revision int64 `json:"mod_revision,string"`
}

// Stored returns what etcd has at a key, and whether it has something.
func (c *Cluster) Stored(ctx context.Context, key string) (Stored, bool, error) {
	var answer struct {
		KVs []Stored `json:"kvs"`
	}
	err := c.askEtcd(ctx, "range", map[string]any{"key": []byte(key)}, &answer)
	if err != nil || len(answer.KVs) == 0 {
		return Stored{}, false, err
	}
	return answer.KVs[0], true, nil
}

// Store writes a value to a key of etcd. It reports false, and writes nothing, if the key was
// written after a revision.
func (c *Cluster) Store(ctx context.Context, key string, value []byte, since int64) (bool, error) {
	var answer struct{ Succeeded bool }
	err := c.askEtcd(ctx, "txn", map[string]any{
		"compare": []any{map[string]any{"key": []byte(key), "target": "MOD", "mod_revision": fmt.Sprint(since)}},
		"success": []any{map[string]any{"request_put": map[string]any{"key": []byte(key), "value": value}}},
	}, &answer)
	return answer.Succeeded, err
}

// askEtcd asks etcd through its JSON gateway
// (https://etcd.io/docs/v3.7/dev-guide/api_grpc_gateway).
func (c *Cluster) askEtcd(ctx context.Context, what string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	url := etcdURL(c.block.controlPlane().String()) + "/v3/kv/" + what
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: c.trust.Clone(), DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s to %s", resp.Status, what)
	}
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		return fmt.Errorf("reading the answer of etcd to %s: %w", what, err)
	}
	return nil
}

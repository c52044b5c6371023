package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Stored returns the value that etcd has at a key, and whether it has one.
func (c *Cluster) Stored(ctx context.Context, key string) ([]byte, bool, error) {
	question, err := json.Marshal(map[string][]byte{"key": []byte(key)})
	if err != nil {
		return nil, false, err
	}
	url := fmt.Sprintf("https://%s:%d/v3/kv/range", c.block.controlPlane(), etcdPort)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return nil, false, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: c.trust.Clone(), DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	var answer struct {
		KVs []struct {
			Value []byte `json:"value"`
		} `json:"kvs"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, false, fmt.Errorf("etcd answers %s to a read of %s: %w", resp.Status, key, err)
	}
	if len(answer.KVs) == 0 {
		return nil, false, nil
	}
	return answer.KVs[0].Value, true, nil
}

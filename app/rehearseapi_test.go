package app

import "testing"

func TestFieldsThatAnObjectCanHave(t *testing.T) {
	t.Parallel()
	inner := map[string]bool{"spec": true, "spec.containers": true, "spec.containers.image": false, "spec.nodeSelector": false, "spec.schema": true, "spec.schema.properties": false}
	for field, want := range map[string]bool{
		"spec.containers[].image": true, "spec.containers[].shiny": false, "spec.shiny.more": false, "spec.nodeSelector.disk": true,
		"spec.schema.properties.a.properties.b.type": true, "shiny": false,
	} {
		if got := canHave(inner, bare(field)); got != want {
			t.Errorf("%s: %t, want %t", field, got, want)
		}
	}
}

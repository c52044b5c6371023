package story

import (
	"fmt"
	"slices"
	"strings"
)

func lower(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// references are pods whose containers refer to something.
func references() (all []Story) {
	kept := objects(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {full: value, empty: ""}, binaryData: {bytes: "//4="}}
---
{apiVersion: v1, kind: Secret, metadata: {name: kept}, data: {full: dmFsdWU=, empty: "", bytes: "//4="}}`)
	pod := func(container string) map[string]any {
		return object("{apiVersion: v1, kind: Pod, metadata: {name: reader}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", %s}]}}", container)
	}
	add := func(name, container string) {
		all = append(all, Story{Name: name, Objects: append(slices.Clone(kept), pod(container))})
	}
	for _, kind := range []string{"configMap", "secret"} {
		for _, key := range []string{"full", "empty", "bytes", "absent"} {
			for _, optional := range []string{"", ", optional: true"} {
				if key == "absent" && optional == "" {
					continue // it waits for it
				}
				add(fmt.Sprintf("%s-key-%s%s", lower(kind), key, map[bool]string{true: "-optional"}[optional != ""]),
					fmt.Sprintf("env: [{name: VALUE, valueFrom: {%sKeyRef: {name: kept, key: %s%s}}}]", kind, key, optional))
			}
		}
		add(lower(kind)+"-all", fmt.Sprintf("envFrom: [{%sRef: {name: kept}}]", kind))
		add(lower(kind)+"-all-twice", fmt.Sprintf("envFrom: [{prefix: A_, %sRef: {name: kept}}, {prefix: B_, %sRef: {name: kept}}]", kind, kind))
		add(lower(kind)+"-all-absent", fmt.Sprintf("envFrom: [{%sRef: {name: gone, optional: true}}]", kind))
	}
	for _, field := range []string{"metadata.name", "metadata.labels['none']", "spec.nodeName", "status.podIP", "spec.serviceAccountName"} {
		add("field-"+strings.Trim(strings.NewReplacer(".", "-", "['", "-", "']", "").Replace(strings.ToLower(field)), "-"), fmt.Sprintf("env: [{name: VALUE, valueFrom: {fieldRef: {fieldPath: %q}}}]", field))
	}
	file := func(content, key string) map[string]any {
		return object(`{apiVersion: v1, kind: Pod, metadata: {name: reader}, spec: {terminationGracePeriodSeconds: 1, volumes: [{name: files, emptyDir: {}}],
  initContainers: [{name: writer, image: "busybox:1", command: [sh, -c, %q], volumeMounts: [{name: files, mountPath: /files}]}],
  containers: [{name: app, image: "registry.k8s.io/pause:3.10", env: [{name: VALUE, valueFrom: {fileKeyRef: %s}}]}]}}`, content, key)
	}
	for name, o := range map[string]map[string]any{
		"file-key":             file("echo VALUE=full > /files/env", "{volumeName: files, path: env, key: VALUE}"),
		"file-key-empty":       file("echo VALUE= > /files/env", "{volumeName: files, path: env, key: VALUE}"),
		"file-key-optional":    file("echo OTHER=full > /files/env", "{volumeName: files, path: env, key: VALUE, optional: true}"),
		"file-absent-optional": file("true", "{volumeName: files, path: env, key: VALUE, optional: true}"),
	} {
		all = append(all, Story{Name: name, Objects: []map[string]any{o}})
	}
	return byName(all)
}

// containers are pods whose containers fail first, end or are slow, with each restart policy and each kind of probe.
func containers() (all []Story) {
	// A file that lasts beyond the container says how often it ran.
	const failsFirst = "if [ -f /files/%s ]; then sleep 3600; else touch /files/%s; exit %d; fi"
	const probe = "{exec: {command: [test, -f, /files/%s]}, periodSeconds: 1, failureThreshold: 3}"
	pod := func(policy, rest string) map[string]any {
		return object("{apiVersion: v1, kind: Pod, metadata: {name: probed}, spec: {restartPolicy: %s, terminationGracePeriodSeconds: 1, volumes: [{name: files, emptyDir: {}}], %s}}", policy, rest)
	}
	container := func(name, script, more string) string {
		return fmt.Sprintf("{name: %s, image: \"busybox:1\", command: [sh, -c, %q], volumeMounts: [{name: files, mountPath: /files}]%s}", name, script, more)
	}
	add := func(name string, o map[string]any) {
		all = append(all, Story{Name: name, Objects: []map[string]any{o}})
	}
	first := func(name string, code int) string { return fmt.Sprintf(failsFirst, name, name, code) }
	for _, policy := range []string{"Always", "OnFailure", "Never"} {
		name := strings.ToLower(policy)
		add(name+"-init-fails-first", pod(policy, fmt.Sprintf("initContainers: [%s], containers: [%s]",
			container("init", "if [ -f /files/init ]; then exit 0; else touch /files/init; exit 1; fi", ""), container("app", "sleep 3600", ""))))
		add(name+"-sidecar", pod(policy, fmt.Sprintf("initContainers: [%s], containers: [%s]",
			container("side", "sleep 3600", ", restartPolicy: Always"), container("app", "sleep 3600", ""))))
		add(name+"-sidecar-fails-first", pod(policy, fmt.Sprintf("initContainers: [%s], containers: [%s]",
			container("side", first("side", 1), ", restartPolicy: Always"), container("app", "sleep 3600", ""))))
		add(name+"-sidecar-ends-first", pod(policy, fmt.Sprintf("initContainers: [%s], containers: [%s]",
			container("side", first("side", 0), ", restartPolicy: Always"), container("app", "sleep 3600", ""))))
		// The startup probe of the sidecar fails in its first life, and is good in the second one.
		add(name+"-sidecar-starts-late", pod(policy, fmt.Sprintf("initContainers: [%s], containers: [%s]",
			container("side", "if [ -f /files/once ]; then touch /files/up; else touch /files/once; fi; sleep 3600", ", restartPolicy: Always, startupProbe: "+fmt.Sprintf(probe, "up")), container("app", "sleep 3600", ""))))
		// It ends by itself in its first life, before its startup probe is good.
		add(name+"-sidecar-fails-before-start", pod(policy, fmt.Sprintf("initContainers: [%s], containers: [%s]",
			container("side", "if [ -f /files/once ]; then touch /files/up; sleep 3600; fi; touch /files/once; sleep 2; exit 1", ", restartPolicy: Always, startupProbe: "+fmt.Sprintf(probe, "up")), container("app", "sleep 3600", ""))))
		add(name+"-two-sidecars", pod(policy, fmt.Sprintf("initContainers: [%s, %s], containers: [%s]",
			container("first", first("first", 1), ", restartPolicy: Always"), container("second", "sleep 3600", ", restartPolicy: Always"), container("app", "sleep 3600", ""))))
		add(name+"-app-ends", pod(policy, fmt.Sprintf("containers: [%s, %s]", container("app", first("app", 0), ""), container("other", "sleep 3600", ""))))
		add(name+"-app-fails-first", pod(policy, fmt.Sprintf("containers: [%s, %s]", container("app", first("app", 1), ""), container("other", "sleep 3600", ""))))
		add(name+"-restart-rules", pod(policy, fmt.Sprintf("containers: [%s]",
			container("app", first("app", 42), ", restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]"))))
		for _, kind := range []string{"startup", "readiness", "liveness"} {
			add(fmt.Sprintf("%s-%s-late", name, kind), pod(policy, fmt.Sprintf("containers: [%s]",
				container("app", "sleep 2; touch /files/up; sleep 3600", fmt.Sprintf(", %sProbe: %s", kind, fmt.Sprintf(probe, "up"))))))
		}
		// The startup probe is good only a while after each start, and the liveness probe fails once.
		add(name+"-starts-late-again", pod(policy, fmt.Sprintf("containers: [%s]", container("app",
			"rm -f /files/up; touch /files/live; sleep 3; touch /files/up; if [ -f /files/was ]; then sleep 3600; fi; touch /files/was; sleep 4; rm /files/live; sleep 3600",
			fmt.Sprintf(", startupProbe: %s, livenessProbe: %s", "{exec: {command: [test, -f, /files/up]}, periodSeconds: 1, failureThreshold: 20}", fmt.Sprintf(probe, "live"))))))
		// All probes; the liveness probe fails once, after all was good.
		add(name+"-all-probes", pod(policy, fmt.Sprintf("containers: [%s]", container("app",
			"touch /files/up; if [ -f /files/was ]; then touch /files/live; sleep 3600; fi; touch /files/was /files/live; sleep 4; rm /files/live; sleep 3600",
			fmt.Sprintf(", startupProbe: %s, readinessProbe: %s, livenessProbe: %s", fmt.Sprintf(probe, "up"), fmt.Sprintf(probe, "up"), fmt.Sprintf(probe, "live"))))))
	}
	return all
}

package script

import (
	"cmp"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (p *planner) add(a add) error {
	pods, err := p.made(a)
	if err != nil {
		return err
	}
	if len(p.order)+len(pods) > maxPods {
		return fmt.Errorf("the script would have more than %d pods", maxPods)
	}
	added := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		l, err := p.begin(a, pod)
		if err != nil {
			return err
		}
		added[i] = l.shown()
	}
	text := "add " + p.lives[p.order[len(p.order)-1]].name()
	if a.Count > 0 {
		text = fmt.Sprintf("add %s-0 to %s-%d", a.Name, a.Name, a.Count-1)
	}
	p.move(text, Set{added})
	return nil
}

// made are the pods that are added, as their author gave them.
func (p *planner) made(a add) ([]*corev1.Pod, error) {
	switch {
	case (a.Pod == nil) == (a.Name == ""):
		return nil, errors.New("add needs either pod, which is a manifest, or name")
	case a.Pod != nil && (a.Count != 0 || a.Namespace != ""):
		return nil, errors.New("count and namespace can't be combined with pod: they are for pods of the template")
	case a.Count < 0 || a.Count > maxPods:
		return nil, fmt.Errorf("count is %d: it can be up to %d", a.Count, maxPods)
	case a.Pod != nil:
		pod, err := manifest(a.Pod)
		return []*corev1.Pod{pod}, err
	}
	var pods []*corev1.Pod
	for i := range max(a.Count, 1) {
		pod := p.template.DeepCopy()
		pod.Namespace, pod.Name = cmp.Or(a.Namespace, pod.Namespace), a.Name
		if a.Count > 0 {
			pod.Name = fmt.Sprintf("%s-%d", a.Name, i)
		}
		pods = append(pods, pod)
	}
	return pods, nil
}

// begin begins the life of a pod.
func (p *planner) begin(a add, pod *corev1.Pod) (*life, error) {
	pod.Namespace = cmp.Or(pod.Namespace, metav1.NamespaceDefault)
	l := &life{pod: pod, began: p.now(), changed: p.now(), phase: cmp.Or(a.Phase, pod.Status.Phase, corev1.PodRunning)}
	l.own = a.Phase == "" && a.Ready == nil && pod.Status.Phase != ""
	l.ready = l.phase == corev1.PodRunning
	if a.Ready != nil {
		l.ready = *a.Ready
	}
	if err := errors.Join(checkName(pod.Name), checkName(pod.Namespace), l.checkState()); err != nil {
		return nil, err
	}
	if p.lives[l.key()] != nil {
		return nil, fmt.Errorf("pod %s is there already", l.name())
	}
	p.births[l.key()]++
	complete(pod, p.total, uidOf(l.key(), p.births[l.key()]), p.now())
	p.total++
	p.lives[l.key()] = l
	p.order = append(p.order, l.key())
	return l, nil
}

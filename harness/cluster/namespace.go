package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// defaultServiceAccount is the account that pods run as; admission refuses
	// pods in a namespace that doesn't have it yet.
	defaultServiceAccount = "default"
	// rootCAConfigMap is mounted into every pod beside its token.
	rootCAConfigMap = "kube-root-ca.crt"
	// accountPoll is how often to look whether the account is there.
	accountPoll = 20 * time.Millisecond
)

// EnsureNamespace makes a namespace usable for pods, if it is not yet. With a
// controller manager that means to create it and to wait for its service
// account; without one, what the controllers would make is made here. Its name in the
// API server is that of Namespace.
func (c *Cluster) EnsureNamespace(ctx context.Context, name string) error {
	name = c.Namespace(name)
	c.mu.Lock()
	c.namespaces = append(c.namespaces, name)
	c.mu.Unlock()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.Client().CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err := unlessThere(err); err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	if !c.hasControllers() {
		if err := c.makeServiceAccount(ctx, name); err != nil {
			return fmt.Errorf("making the default service account of namespace %s: %w", name, err)
		}
		return nil
	}
	if err := c.awaitServiceAccount(ctx, name); err != nil {
		return fmt.Errorf("waiting for the default service account of namespace %s: %w", name, err)
	}
	return nil
}

func (c *Cluster) awaitServiceAccount(ctx context.Context, namespace string) error {
	ticker := time.NewTicker(accountPoll)
	defer ticker.Stop()
	for {
		_, err := c.Client().CoreV1().ServiceAccounts(namespace).Get(ctx, defaultServiceAccount, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

func (c *Cluster) makeServiceAccount(ctx context.Context, namespace string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: defaultServiceAccount}}
	_, err := c.Client().CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	if err := unlessThere(err); err != nil {
		return err
	}
	ca := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: rootCAConfigMap},
		Data:       map[string]string{"ca.crt": string(c.creds.ca.CertPEM())},
	}
	_, err = c.Client().CoreV1().ConfigMaps(namespace).Create(ctx, ca, metav1.CreateOptions{})
	return unlessThere(err)
}

// unlessThere is the error of a creation, unless it is that the object exists.
func unlessThere(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// started is a cluster that is up, as `up --output json` prints it.
type started struct {
	Kubeconfig string `json:"kubeconfig"`
	// SeedKubeconfig is that of the seed. If unset, there is none.
	SeedKubeconfig string `json:"seedKubeconfig,omitempty"`
	// Logs is the directory of the components' logs.
	Logs       string             `json:"logs"`
	Components []startedComponent `json:"components"`
	// Images are patterns of the images that can be pulled.
	Images []string `json:"images"`
	// DefaultImage is what other images are, "http1:8080". If unset, they can't be pulled.
	DefaultImage string `json:"defaultImage,omitempty"`
}

type startedComponent struct {
	record.Component
	PID int `json:"pid"`
}

func describeCluster(c *rig.Rig, played images.Played, fallback string, cell plan.Cell) started {
	is := started{Kubeconfig: c.Kubeconfig(), SeedKubeconfig: c.SeedKubeconfig(), Logs: c.LogDir(), DefaultImage: fallback}
	for _, i := range c.Instances() {
		is.Components = append(is.Components, startedComponent{record.Component{Name: i.Name, Version: i.Version, Gates: i.Gates}, i.PID})
	}
	for _, image := range slices.Concat(played.Images, cell.Images) {
		is.Images = append(is.Images, image.Image)
	}
	is.Images = append(is.Images, images.KnownImages()...)
	return is
}

// firstImage is what the banner has people try where no other image can be pulled.
const firstImage = "\\\n    --image=registry.k8s.io/e2e-test-images/agnhost:2.66.1 -- /agnhost netexec"

// printStarted prints the banner: what runs, where it logs, and what to try. Nothing
// but paths and gates is wider than 80 columns.
func printStarted(w io.Writer, s started) {
	table(w, "COMPONENT\tRELEASE\tGATES", s.Components, func(c startedComponent) string {
		return fmt.Sprintf("%s\t%s\t%s", c.Name, c.Version, c.Gates.Flag())
	})
	fmt.Fprintf(w, "\nLogs: %s\n\nImages that run:\n", s.Logs)
	for _, image := range s.Images {
		fmt.Fprintf(w, "  %s\n", image)
	}
	first, port := firstImage, "8080"
	if s.DefaultImage == "" {
		fmt.Fprint(w, "Others can't be pulled. With --default-image http1:8080, each is a server.\n")
	} else {
		first = "--image=nginx"
		listener, _, _ := strings.Cut(s.DefaultImage, ",")
		_, port, _ = strings.Cut(listener, ":")
		fmt.Fprintf(w, "Every other image is a server that listens on %s.\n", s.DefaultImage)
	}
	fmt.Fprint(w, "With --image 'NAME=http1:8080', the image NAME is a server.\n")
	fmt.Fprintf(w, `
Try:
  export KUBECONFIG=%s
  kubectl get nodes -o wide
  kubectl create deployment web %s
  kubectl logs -f deploy/web
  kubectl exec -it deploy/web -- sh
  kubectl port-forward deploy/web %s
`, reports.Quoted(s.Kubeconfig), first, port)
	if s.SeedKubeconfig != "" {
		fmt.Fprintf(w, "  kubectl get deployments -n shoot \\\n    --kubeconfig %s\n", reports.Quoted(s.SeedKubeconfig))
	}
	fmt.Fprint(w, "\nCtrl-C stops the cluster and removes everything, logs included.\n")
}

package deploy

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// cluster is what the base renders to.
type cluster struct {
	pods        map[string]podOwner // by kind and name
	services    map[string]*corev1.Service
	scalers     []*autoscalingv2.HorizontalPodAutoscaler
	budgets     []*policyv1.PodDisruptionBudget
	ingresses   []*networkingv1.Ingress
	policies    map[string]*networkingv1.NetworkPolicy
	configMaps  []*corev1.ConfigMap
	kindsByName map[string]int
}

// podOwner is a Deployment or a StatefulSet.
type podOwner struct {
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec
}

// render builds the base and decodes every object strictly: unknown and
// repeated fields are errors.
func render(t *testing.T) *cluster {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "k8s/base")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	c := &cluster{pods: map[string]podOwner{}, services: map[string]*corev1.Service{}, policies: map[string]*networkingv1.NetworkPolicy{}, kindsByName: map[string]int{}}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, kind, err := strict.Decode(text, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", r.CurId(), err)
		}
		if r.GetKind() != "Namespace" && r.GetNamespace() != "concert" {
			t.Errorf("%s is in namespace %q", r.CurId(), r.GetNamespace())
		}
		c.kindsByName[kind.Kind]++
		c.add(r.GetName(), object)
	}
	return c
}

func (c *cluster) add(name string, object runtime.Object) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		c.pods["Deployment "+name] = podOwner{o.Spec.Selector, o.Spec.Template}
	case *appsv1.StatefulSet:
		c.pods["StatefulSet "+name] = podOwner{o.Spec.Selector, o.Spec.Template}
	case *corev1.Service:
		c.services[name] = o
	case *autoscalingv2.HorizontalPodAutoscaler:
		c.scalers = append(c.scalers, o)
	case *policyv1.PodDisruptionBudget:
		c.budgets = append(c.budgets, o)
	case *networkingv1.Ingress:
		c.ingresses = append(c.ingresses, o)
	case *networkingv1.NetworkPolicy:
		c.policies[name] = o
	case *corev1.ConfigMap:
		c.configMaps = append(c.configMaps, o)
	}
}

// matching are the owners whose pods a selector picks.
func (c *cluster) matching(t *testing.T, s *metav1.LabelSelector) []podOwner {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	var found []podOwner
	for _, p := range c.pods {
		if selector.Matches(labels.Set(p.template.Labels)) {
			found = append(found, p)
		}
	}
	return found
}

func hasPort(p podOwner, name string) bool {
	for _, container := range p.template.Spec.Containers {
		if slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool { return port.Name == name }) {
			return true
		}
	}
	return false
}

// TestBaseIsWhole checks that what is named is there.
func TestBaseIsWhole(t *testing.T) {
	c := render(t)
	for kind, want := range map[string]int{"StatefulSet": 1, "Deployment": 3, "Service": 5, "HorizontalPodAutoscaler": 3, "PodDisruptionBudget": 3, "Ingress": 1, "NetworkPolicy": 6, "ConfigMap": 1, "Namespace": 1} {
		if c.kindsByName[kind] != want {
			t.Errorf("%d objects of kind %s, want %d", c.kindsByName[kind], kind, want)
		}
	}
	for name, s := range c.services {
		found := c.matching(t, &metav1.LabelSelector{MatchLabels: s.Spec.Selector})
		if len(found) != 1 {
			t.Errorf("service %s picks the pods of %d owners", name, len(found))
			continue
		}
		for _, port := range s.Spec.Ports {
			if !hasPort(found[0], port.TargetPort.StrVal) {
				t.Errorf("service %s leads to a port %s that is not there", name, port.TargetPort.String())
			}
		}
	}
	for _, h := range c.scalers {
		if _, ok := c.pods[h.Spec.ScaleTargetRef.Kind+" "+h.Spec.ScaleTargetRef.Name]; !ok {
			t.Errorf("autoscaler %s scales %v, which is not there", h.Name, h.Spec.ScaleTargetRef)
		}
	}
	for _, b := range c.budgets {
		if len(c.matching(t, b.Spec.Selector)) != 1 {
			t.Errorf("budget %s is for nothing", b.Name)
		}
	}
	for _, i := range c.ingresses {
		for _, rule := range i.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				s := c.services[path.Backend.Service.Name]
				if s == nil || !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == path.Backend.Service.Port.Name }) {
					t.Errorf("%s leads to %v, which is not there", rule.Host, path.Backend.Service)
				}
				if path.Backend.Service.Name == "admin-api" || path.Backend.Service.Name == "concert" {
					t.Errorf("%s leads to %s", rule.Host, path.Backend.Service.Name)
				}
			}
		}
	}
}

// TestPodsAreConfined holds every container to the restricted profile, probes,
// resources, and secrets by reference.
func TestPodsAreConfined(t *testing.T) {
	c := render(t)
	readme, err := os.ReadFile("k8s/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range c.pods {
		if selector, err := metav1.LabelSelectorAsSelector(p.selector); err != nil || !selector.Matches(labels.Set(p.template.Labels)) {
			t.Errorf("%s does not own its pods: %v", name, err)
		}
		spec := p.template.Spec
		if spec.SecurityContext == nil || !*spec.SecurityContext.RunAsNonRoot || spec.SecurityContext.SeccompProfile == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s is not confined", name)
		}
		for _, container := range spec.Containers {
			s := container.SecurityContext
			if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("%s: container %s is not confined", name, container.Name)
			}
			if container.ReadinessProbe == nil || container.LivenessProbe == nil || container.Resources.Requests.Cpu().IsZero() || container.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s: container %s lacks probes or resources", name, container.Name)
			}
			if !strings.Contains(container.Image, ":") || strings.HasSuffix(container.Image, ":latest") {
				t.Errorf("%s: image %s has no version", name, container.Image)
			}
			for _, env := range container.Env {
				if secret := strings.HasSuffix(env.Name, "_TOKEN") || strings.HasSuffix(env.Name, "_SECRET") || strings.HasSuffix(env.Name, "_PASSWORD") || strings.HasSuffix(env.Name, "_KEY"); secret != (env.ValueFrom != nil) {
					t.Errorf("%s: %s is in the wrong place", name, env.Name)
				}
				if env.ValueFrom != nil && !strings.Contains(string(readme), "--from-file="+env.ValueFrom.SecretKeyRef.Key+"=") {
					t.Errorf("the README does not make %s", env.ValueFrom.SecretKeyRef.Key)
				}
			}
			for _, m := range container.VolumeMounts {
				claimed := name == "StatefulSet redis" && m.Name == "data"
				if !claimed && !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
					t.Errorf("%s mounts %s, which is not there", name, m.Name)
				}
			}
		}
	}
}

// TestOperatorsAreNotReached: no policy lets anybody to the operators' API, and
// all else is denied.
func TestOperatorsAreNotReached(t *testing.T) {
	c := render(t)
	deny := c.policies["default-deny"]
	if deny == nil || len(deny.Spec.PolicyTypes) != 2 || len(deny.Spec.Ingress)+len(deny.Spec.Egress) != 0 || len(c.matching(t, &deny.Spec.PodSelector)) != len(c.pods) {
		t.Fatal("not all is denied by default")
	}
	for name, p := range c.policies {
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				if port.Port.StrVal == "admin" {
					t.Errorf("policy %s opens port %s", name, port.Port.String())
				}
				for _, owner := range c.matching(t, &p.Spec.PodSelector) {
					if !hasPort(owner, port.Port.StrVal) {
						t.Errorf("policy %s is about a port %s that is not there", name, port.Port.String())
					}
				}
			}
			if len(rule.Ports) == 0 {
				t.Errorf("policy %s opens every port", name)
			}
		}
	}
}

// TestEdgesAreAlike: the cluster's edge differs from the other in what an
// ingress before it takes.
func TestEdgesAreAlike(t *testing.T) {
	routes := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(text), "    limit_req_zone")
		if !ok {
			t.Fatalf("%s limits nobody", name)
		}
		return rest
	}
	both := strings.NewReplacer("        server concert-1:8088;\n", "", "        server concert-2:8088;\n", "", "        server concert:8088;\n", "")
	if a, b := both.Replace(routes("compose/edge.conf")), both.Replace(routes("k8s/base/edge.conf")); a != b {
		t.Error(fmt.Sprintf("the routes differ:\n%s\n%s", a, b))
	}
}

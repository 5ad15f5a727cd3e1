package runnerpack

import (
	"fmt"
	"strings"
)

type pool int

const (
	poolCPU pool = iota
	poolGPU
	poolTPU
)

// shape is a machine_shape as Kaggle's client documents it.
type shape struct {
	name    string
	pool    pool
	retired string // what the server runs instead, without saying so
	tell    string
}

// shapes are the values of July to September 2026. The server takes any text:
// a value that is not here is saved as plain Gpu.
var shapes = []shape{
	{name: "NvidiaTeslaT4", pool: poolGPU, tell: "NvidiaTeslaT4 is a machine with two T4 cards: plan two workers, or the second idles"},
	{name: "NvidiaTeslaT4Highmem", pool: poolGPU},
	{name: "NvidiaTeslaP100", pool: poolGPU, retired: "NvidiaTeslaT4",
		tell: "and where a P100 does turn up, the stock image's PyTorch has no code for it"},
	{name: "NvidiaTeslaA100", pool: poolGPU},
	{name: "NvidiaL4", pool: poolGPU},
	{name: "NvidiaL4X1", pool: poolGPU},
	{name: "NvidiaH100", pool: poolGPU},
	{name: "NvidiaRtxPro6000", pool: poolGPU},
	{name: "TpuV5E8", pool: poolTPU},
	{name: "TpuV6E8", pool: poolTPU},
	{name: "TpuV38", pool: poolTPU, retired: "TpuV5E8"},
	{name: "Tpu1VmV38", pool: poolTPU, retired: "TpuV5E8"},
	{name: "TpuV232", pool: poolTPU, retired: "a CPU machine"},
	{name: "TpuV2256", pool: poolTPU, retired: "a CPU machine"},
	{name: "Gpu", pool: poolGPU, tell: "Gpu takes whatever card is free; NvidiaTeslaT4 names one"},
}

// knownShape finds a shape in any spelling of its case. For an unknown one the
// pool is a guess from its first letters.
func knownShape(name string) (shape, bool) {
	for _, s := range shapes {
		if strings.EqualFold(s.name, name) {
			return s, true
		}
	}
	low := strings.ToLower(name)
	switch {
	case strings.HasPrefix(low, "tpu"):
		return shape{name: name, pool: poolTPU}, false
	case low == "" || low == "none" || low == "cpu":
		return shape{pool: poolCPU}, true
	}
	return shape{name: name, pool: poolGPU}, false
}

// CheckAccelerator compares the switches of m with each other and with the
// shape. A contradiction is an *AcceleratorError. What can only be meant one way
// is corrected in m and named in fixed: the spelling of a shape, an image pinned
// for a TPU run (which would land on an image without torch_xla and still end
// as complete). Retired and unknown shapes are named in warnings.
func CheckAccelerator(m *Metadata) (fixed, warnings []string, err error) {
	s, known := knownShape(m.MachineShape)
	if err := contradiction(m, s); err != nil {
		return nil, nil, err
	}
	if known && s.name != m.MachineShape {
		if s.name != "" {
			fixed = append(fixed, fmt.Sprintf("machine_shape %s is spelt %s", m.MachineShape, s.name))
		}
		m.MachineShape = s.name
	}
	switch {
	case !known:
		warnings = append(warnings, fmt.Sprintf("machine_shape %s is not a known value; Kaggle takes any text without complaint and then runs on whatever is free", m.MachineShape))
	case s.retired != "":
		w := fmt.Sprintf("machine_shape %s is retired: Kaggle runs it on %s without saying so", s.name, s.retired)
		if s.tell != "" {
			w += "; " + s.tell
		}
		warnings = append(warnings, w)
	case s.tell != "":
		warnings = append(warnings, s.tell)
	}
	if m.EnableTPU && (m.DockerImage != "" || m.DockerImagePinningType != "") {
		fixed = append(fixed, "docker_image is dropped: a pinned image would put the TPU run on an image without torch_xla")
		m.DockerImage, m.DockerImagePinningType = "", ""
	} else if m.DockerImage != "" {
		warnings = append(warnings, "docker_image pins the run to an old image; remove it to get today's")
	}
	return fixed, warnings, nil
}

// contradiction is what cannot be meant.
func contradiction(m *Metadata, s shape) error {
	switch {
	case m.EnableGPU && m.EnableTPU:
		return &AcceleratorError{Reason: "enable_gpu and enable_tpu are both true; a session has one accelerator"}
	case s.pool == poolCPU && m.EnableGPU:
		return &AcceleratorError{Reason: "enable_gpu is true and no machine_shape says which card; the old default no longer runs today's PyTorch", Suggest: AcceleratorT4}
	case s.pool == poolCPU && m.EnableTPU:
		return &AcceleratorError{Reason: "enable_tpu is true and no machine_shape says which", Suggest: AcceleratorTPU}
	case s.pool == poolGPU && !m.EnableGPU:
		return &AcceleratorError{Reason: fmt.Sprintf("machine_shape %s asks for a card and enable_gpu is false; set one of them right", m.MachineShape)}
	case s.pool == poolTPU && !m.EnableTPU:
		return &AcceleratorError{Reason: fmt.Sprintf("machine_shape %s asks for a TPU and enable_tpu is false; set one of them right", m.MachineShape)}
	}
	return nil
}

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sandglass/kaggle"
)

// maxSource is the size of source, in bytes, that is refused with a bare 400.
const maxSource = 1_000_000

// shapes are the accelerators a push may name, lower-cased, with what the server stores (reported, September 2026).
// Retired ones are replaced silently; "" is a CPU machine.
var shapes = map[string]string{
	"": "", "nvidiateslat4": "NvidiaTeslaT4", "nvidiateslat4highmem": "NvidiaTeslaT4Highmem", "nvidiateslaa100": "NvidiaTeslaA100",
	"nvidial4": "NvidiaL4", "nvidial4x1": "NvidiaL4X1", "nvidiah100": "NvidiaH100", "nvidiartxpro6000": "NvidiaRtxPro6000",
	"tpuv5e8": "TpuV5E8", "tpuv6e8": "TpuV6E8",
	"nvidiateslap100": "NvidiaTeslaT4", "tpuv38": "TpuV5E8", "tpu1vmv38": "TpuV5E8",
	"tpuv5e1": "TpuV5E8", "tpuv5e4": "TpuV5E8", "tpuv6e1": "TpuV5E8",
	"tpuv232": "", "tpuv2256": "",
}

// shapeOf is the shape stored for a push and its pool. An unknown shape becomes plain "Gpu". Without a shape the two
// deprecated switches decide.
func shapeOf(asked string, gpu, tpu bool) (shape, pool string) {
	if asked == "" {
		switch {
		case tpu:
			return "TpuV5E8", poolTPU
		case gpu:
			return "NvidiaTeslaT4", poolGPU
		}
		return "", poolCPU
	}
	shape, known := shapes[strings.ToLower(asked)]
	switch {
	case !known:
		return "Gpu", poolGPU
	case shape == "":
		return "", poolCPU
	case strings.HasPrefix(shape, "Tpu"):
		return shape, poolTPU
	}
	return shape, poolGPU
}

// fold takes the accents off, as far as Unicode knows them.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// pushRefusal is a refusal inside HTTP 200.
type pushRefusal string

func (e pushRefusal) Error() string { return string(e) }

func (s *Sandbox) saveKernel(c *call, body []byte) (any, error) {
	// What the server assumes for switches that are left out is not documented; clients always send them.
	req := &kaggle.SaveKernelRequest{IsPrivate: true, EnableInternet: true}
	if err := decode(body, req, true); err != nil {
		return nil, err
	}
	if err := checkPush(req); err != nil {
		return nil, err
	}
	ans := kaggle.SaveKernelResponse{
		InvalidTags: []string{}, InvalidDatasetSources: []string{}, InvalidCompetitionSources: []string{},
		InvalidKernelSources: []string{}, InvalidModelSources: []string{},
	}
	var start int64
	err := s.update(func(st *state) error {
		if s.closed {
			return refuse(503, "The sandbox is closing")
		}
		var err error
		start, err = s.push(c, req, &ans)
		return err
	})
	var refused pushRefusal
	if errors.As(err, &refused) {
		ans.Ref, ans.URL, ans.VersionNumber, ans.KernelID, ans.Error = "", "", 0, 0, string(refused)
		return ans, nil
	}
	if err != nil {
		return nil, err
	}
	if start != 0 {
		s.launch(start)
	}
	s.log.Info("sandbox took a push", "kernel", ans.Ref, "version", int(ans.VersionNumber), "run", start != 0)
	return ans, nil
}

// checkPush refuses what is malformed whatever the state.
func checkPush(req *kaggle.SaveKernelRequest) error {
	switch {
	case req.ID == 0 && req.Slug == "":
		return refuse(400, "id or slug is required")
	case len(req.Text) >= maxSource:
		return errBareRequest
	case req.Language != "python" && req.Language != "r" && req.Language != "rmarkdown" && req.Language != "julia":
		return refuse(400, "language must be python, r, rmarkdown or julia, not %q", req.Language)
	case req.KernelType != "script" && req.KernelType != "notebook":
		return refuse(400, "kernelType must be script or notebook, not %q", req.KernelType)
	case req.SessionTimeoutSeconds < 0:
		return refuse(400, "sessionTimeoutSeconds must not be negative")
	case req.DockerImagePinningType != "" && req.DockerImagePinningType != "original" && req.DockerImagePinningType != "latest":
		return refuse(400, "dockerImagePinningType must be original or latest")
	}
	switch req.KernelExecutionType {
	case "", kaggle.ExecSaveAndRunAll, kaggle.ExecQuickSave:
	case kaggle.ExecInteractive:
		return refuse(400, "The sandbox has no interactive sessions")
	default:
		return refuse(400, "kernelExecutionType %q is unknown", req.KernelExecutionType)
	}
	if n := len([]rune(req.NewTitle)); n > 50 {
		return errInternal // reported: no reason is given
	} else if req.NewTitle != "" && n < 5 {
		return refuse(400, "The title must be 5 to 50 characters long")
	}
	return checkNotebook(req)
}

// checkNotebook refuses a notebook that the server cannot read: not JSON, or (reported, as HTTP 500) cell sources that
// are lists.
func checkNotebook(req *kaggle.SaveKernelRequest) error {
	if req.KernelType != "notebook" || req.Language == "rmarkdown" {
		return nil
	}
	var nb struct {
		Cells []struct {
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal([]byte(req.Text), &nb); err != nil {
		return refuse(400, "The notebook is not valid JSON")
	}
	for _, cell := range nb.Cells {
		if len(cell.Source) == 0 || cell.Source[0] != '"' {
			return errInternal
		}
	}
	return nil
}

// push does the work of a save in the state: kernel, version, and session unless it is a quick save. It returns the
// session to start. The caller holds s.mu, and undoes the state on an error.
func (s *Sandbox) push(c *call, req *kaggle.SaveKernelRequest, ans *kaggle.SaveKernelResponse) (start int64, err error) {
	k, err := s.pushedKernel(c.who, req)
	if err != nil {
		return 0, err
	}
	shape, pool := shapeOf(req.MachineShape, req.EnableGPU, req.EnableTPU)
	run := req.KernelExecutionType != kaggle.ExecQuickSave
	if run {
		if err := s.roomFor(pool); err != nil {
			return 0, err
		}
	}
	if k.ID == 0 {
		k.ID, k.Created = s.st.newID(), s.now()
		s.st.Kernels[k.ID] = k
		delete(s.st.Deleted, k.ref())
	}
	if req.NewTitle != "" {
		k.Title = req.NewTitle
	}
	k.Private, k.Language = req.IsPrivate, req.Language
	v := &version{
		Number: len(k.Versions) + 1, Shape: shape, EnableGPU: pool == poolGPU, EnableTPU: pool == poolTPU,
		Internet: req.EnableInternet, DockerImage: req.DockerImage, Tags: req.CategoryIDs,
	}
	s.attach(c.who, v, req, ans)
	k.Versions = append(k.Versions, v)
	if err := s.writeSource(k.ID, v.Number, req.Text); err != nil {
		return 0, err
	}
	if run {
		limit := poolLimit[pool]
		if t := time.Duration(req.SessionTimeoutSeconds) * time.Second; t > 0 {
			limit = min(limit, t)
		}
		x := &session{ID: s.st.newID(), Kernel: k.ID, Version: v.Number, Pool: pool, Shape: shape, Limit: limit,
			Status: StatusQueued, Pushed: s.now(), Internet: req.EnableInternet}
		s.st.Sessions[x.ID] = x
		v.Session, start = x.ID, x.ID
		k.LastRun = s.now()
	}
	ans.Ref = "/code/" + k.ref()
	ans.URL = "https://www.kaggle.com/code/" + k.ref()
	ans.VersionNumber, ans.KernelID = kaggle.Int(v.Number), kaggle.Int(k.ID)
	return start, nil
}

// pushedKernel finds the kernel a push is for, or makes a new one (ID 0) at the address its title gives it.
func (s *Sandbox) pushedKernel(who string, req *kaggle.SaveKernelRequest) (*kernel, error) {
	if req.ID != 0 {
		k := s.st.Kernels[req.ID]
		if k == nil || k.Owner != who {
			return nil, pushRefusal("Kernel not found")
		}
		return k, s.keepsAddress(k, req)
	}
	owner, slug, ok := strings.Cut(strings.ToLower(req.Slug), "/")
	if !ok || slug == "" || strings.Contains(slug, "/") || slug != slugify(slug) {
		return nil, refuse(400, "slug must be owner/kernel-slug in lower-case letters, digits and hyphens, not %q", req.Slug)
	}
	if n := len(slug); n < 5 || n > 50 {
		return nil, refuse(400, "The slug must be 5 to 50 characters long")
	}
	if owner != who {
		return nil, pushRefusal("Kernel not found")
	}
	if k := s.findKernel(owner, slug); k != nil {
		if k.KernelType != req.KernelType {
			return nil, pushRefusal("The type of an existing kernel cannot be changed")
		}
		return k, s.keepsAddress(k, req)
	}
	if req.NewTitle == "" {
		return nil, pushRefusal("Notebook not found")
	}
	// The address comes from the title, whatever the slug said.
	address := slugify(req.NewTitle)
	if len(address) < 5 {
		return nil, refuse(400, "The title %q gives the slug %q, which is shorter than 5 characters", req.NewTitle, address)
	}
	if s.findKernel(owner, address) != nil {
		return nil, refuse(409, "The slug %q and the title %q belong to different kernels", slug, req.NewTitle)
	}
	for _, k := range s.st.Kernels {
		if k.Owner == owner && strings.EqualFold(k.Title, req.NewTitle) {
			return nil, pushRefusal(fmt.Sprintf("The requested title %q is already in use by another of your kernels", req.NewTitle))
		}
	}
	return &kernel{Owner: owner, Slug: address, KernelType: req.KernelType}, nil
}

// keepsAddress refuses a new title that belongs to another kernel (reported: 409).
func (s *Sandbox) keepsAddress(k *kernel, req *kaggle.SaveKernelRequest) error {
	if req.NewTitle == "" || slugify(req.NewTitle) == k.Slug {
		return nil
	}
	if other := s.findKernel(k.Owner, slugify(req.NewTitle)); other != nil {
		return refuse(409, "The title %q belongs to another kernel than %s", req.NewTitle, k.Slug)
	}
	return nil
}

// roomFor refuses a run for which there is no slot, or no quota left in this week. The caller holds s.mu.
func (s *Sandbox) roomFor(pool string) error {
	if s.busy(pool) >= poolSlots[pool] {
		return pushRefusal(fmt.Sprintf("Maximum batch %s session count of %d reached.", strings.ToUpper(pool), poolSlots[pool]))
	}
	if pool == poolCPU {
		return nil
	}
	if used, _, _ := s.poolUse(pool); used >= s.poolTotal(pool) {
		return pushRefusal(fmt.Sprintf("Maximum weekly %s quota of %.2f hours reached.", strings.ToUpper(pool), s.poolTotal(pool).Hours()))
	}
	return nil
}

// busy counts a pool's sessions that hold a slot: queued, running and being stopped. The caller holds s.mu.
func (s *Sandbox) busy(pool string) int {
	n := 0
	for _, x := range s.st.Sessions {
		if x.Pool == pool && !x.terminal() {
			n++
		}
	}
	return n
}

// attach keeps the sources that exist and may be used, and lists the others as the request spelled them: the run
// starts without them.
func (s *Sandbox) attach(who string, v *version, req *kaggle.SaveKernelRequest, ans *kaggle.SaveKernelResponse) {
	sort := func(asked []string, usable func(string) bool, invalid *[]string) (good []string) {
		for _, ref := range asked {
			if usable(strings.ToLower(ref)) {
				good = append(good, strings.ToLower(ref))
			} else {
				*invalid = append(*invalid, ref)
			}
		}
		return good
	}
	v.Datasets = sort(req.DatasetDataSources, func(ref string) bool {
		d, n := s.findDataset(who, ref)
		return d != nil && d.version(n) != nil
	}, &ans.InvalidDatasetSources)
	v.Competitions = sort(req.CompetitionDataSources, func(ref string) bool {
		c := s.st.Competitions[ref]
		return c != nil && c.Entered
	}, &ans.InvalidCompetitionSources)
	v.Kernels = sort(req.KernelDataSources, func(ref string) bool {
		owner, slug, ok := strings.Cut(ref, "/")
		return ok && s.visibleKernel(who, owner, slug) != nil
	}, &ans.InvalidKernelSources)
	v.Models = sort(req.ModelDataSources, func(ref string) bool { return s.findModel(ref) != nil }, &ans.InvalidModelSources)
}

func (s *Sandbox) sourcePath(kernel int64, version int) string {
	return filepath.Join(s.home, "sources", strconv.FormatInt(kernel, 10), "v"+strconv.Itoa(version))
}

func (s *Sandbox) writeSource(kernel int64, version int, text string) error {
	p := s.sourcePath(kernel, version)
	err := os.MkdirAll(filepath.Dir(p), 0o700)
	if err == nil {
		err = writeFileAtomic(p, []byte(text))
	}
	if err != nil {
		return fmt.Errorf("the sandbox cannot keep the source (is the disk of %s full?), nothing was started: %w", s.home, err)
	}
	return nil
}

// findKernel is the kernel at an address, or nil. The caller holds s.mu.
func (s *Sandbox) findKernel(owner, slug string) *kernel {
	for _, k := range s.st.Kernels {
		if k.Owner == owner && k.Slug == slug {
			return k
		}
	}
	return nil
}

// visibleKernel is findKernel for what who may read.
func (s *Sandbox) visibleKernel(who, owner, slug string) *kernel {
	k := s.findKernel(strings.ToLower(owner), strings.ToLower(slug))
	if k == nil || (k.Private && k.Owner != who) {
		return nil
	}
	return k
}

package sandbox

import "errors"

// AddDataset makes the files below dir the newest version of dataset owner/slug (links to them, no copies: what
// changes there changes here). Owner "" is the account's own name.
func (s *Sandbox) AddDataset(owner, slug, dir string) error { return errors.New("") }

// AddCompetition makes the files below dir the data of competition slug. entered says whether the account has
// accepted its rules; without that a kernel cannot use it and downloads are refused.
func (s *Sandbox) AddCompetition(slug, dir string, entered bool) error { return errors.New("") }

// AddModel makes the files below dir the model variation ref: owner/model/framework/variation/version.
func (s *Sandbox) AddModel(ref, dir string) error { return errors.New("") }

// KernelSeed is a kernel that is simply there, with a finished run, e.g. another person's.
type KernelSeed struct {
	Owner, Slug, Title string
	Source             string
	KernelType         string // "script" (default) or "notebook"
	Private            bool
	Output             string // folder whose files are copied as the run's output; "" = none
}

// AddKernel puts a finished kernel into the sandbox.
func (s *Sandbox) AddKernel(seed KernelSeed) error { return errors.New("") }

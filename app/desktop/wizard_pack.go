package desktop

import (
	"context"

	"sandglass/app"
)

// packSoon packs the project in the background once everything that a build needs is there, for the ticket and for what follows.
func (p *newPage) packSoon() { p.pack(nil) }

// pack builds the kernel folder unless the one there is of these very words, and then goes on. Packing reads and writes on this
// computer only, below the project's .sandglass folder.
func (p *newPage) pack(then func()) {
	w := &p.w
	s, problems := w.spec()
	if len(problems) > 0 || s.Hours <= 0 || p.h.Core() == nil {
		return
	}
	key := w.buildKey()
	if w.build.fresh(key) {
		if then != nil {
			then()
		}
		return
	}
	if !w.build.due(key) && then == nil {
		return
	}
	w.build.ask(key)
	core := p.h.Core()
	ask(p, "build", func(ctx context.Context) (app.BuildResult, error) { return core.Build(ctx, s, nil) }, func(got app.BuildResult, err error) {
		if !w.build.answer(key, got, err) {
			return
		}
		p.render()
		if then != nil && err == nil {
			then()
		}
		if c, ok := p.panes[stepRehearse].(*rehearsePane); ok && w.at == stepRehearse {
			c.recall()
		}
	})
	p.render()
}

// Package docs holds the user's guide and the two references it leans on, for the window's Help page. The files are written to be
// read on the web as well, so links between them are relative.
package docs

import "embed"

// Guide has guide/*.md, and scripts.md and tpu.md beside that folder.
//
//go:embed guide/*.md scripts.md tpu.md
var Guide embed.FS

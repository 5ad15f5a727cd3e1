//go:build !linux

package sandbox

import "testing"

func smallDisk(t *testing.T) string {
	t.Skip("needs a small file system")
	return ""
}

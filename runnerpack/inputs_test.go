package runnerpack

import "testing"

func TestInputFolder(t *testing.T) {
	for _, c := range []struct {
		in     Input
		layout string
		want   string
	}{
		{Input{"dataset", "a/x", ""}, "", "data"}, {Input{"dataset", "a/x", ""}, "nested", "data/ext/x"}, {Input{"kernel", "a/x", ""}, "nested", "data/ext/kout-x"},
		{Input{"competition", "cup", ""}, "nested", "data"}, {Input{"dataset", "a/x", "data/y"}, "flat", "data/y"}, {Input{"model", "a/b/c/d/1", ""}, "flat", ""},
		{Input{"model", "a/b/c/d/1", "data/m"}, "flat", "data/m"},
	} {
		if got := InputFolder(c.in, c.layout); got != c.want {
			t.Errorf("%+v in layout %q is linked into %q, want %q", c.in, c.layout, got, c.want)
		}
	}
}

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScriptOf(t *testing.T) {
	for command, want := range map[string]string{
		"python src/train.py --folds {fold}":             "src/train.py",
		"python3.11 -u -X dev ./src//train.py":           "src/train.py",
		"CUDA_VISIBLE_DEVICES=0 A='b c' python src/a.py": "src/a.py",
		`python "src/my train.py" -m x`:                  "src/my train.py",
		"env A=1 /usr/bin/python3 src/a.py":              "src/a.py",
		"bash src/run.sh":                                "src/run.sh",
		"python -m train":                                "",
		"python -c 'print(1)'":                           "",
		"cd src && python train.py":                      "",
		"git clone x && python x/train.py":               "",
		"python src/gen.py && python src/made.py":        "src/gen.py",
		"python $SCRIPT":                                 "",
		"python src/fold{fold}.py":                       "",
		`python src\train.py`:                            "",
		"python /kaggle/input/x/y.py":                    "",
		"python - < src/a.py":                            "",
		"python":                                         "",
		"":                                               "",
		"./run":                                          "",
		"python 'src/unclosed.py":                        "src/unclosed.py",
	} {
		if got := scriptOf(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// TestProjectWithoutUTF8: such a name cannot be written down, so that the results would come home to another folder.
func TestProjectWithoutUTF8(t *testing.T) {
	err := checkScripts(BuildSpec{Project: filepath.Join(t.TempDir(), "b\xffd"), Command: "true"})
	if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Error(err)
	}
}

// TestCheckScripts: a script that will certainly not be in the session is refused before anything is built, and nothing else is.
func TestCheckScripts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"src/train.py", "src/pkg/__main__.py", "src/lib/x.py", "top.py", "tools/run.py"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("pass\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		spec BuildSpec
		want string // "" = taken
	}{
		{"there", BuildSpec{Command: "python src/train.py"}, ""},
		{"a package", BuildSpec{Command: "python src/pkg"}, ""},
		{"not there", BuildSpec{Command: "python src/none.py"}, "there is src/train.py"},
		{"not there at all", BuildSpec{Command: "python code/none.py"}, "no such file"},
		{"a folder", BuildSpec{Command: "python src/lib"}, "__main__.py"},
		{"at the top", BuildSpec{Command: "python top.py"}, "--include src --include top.py"},
		{"at the top, included", BuildSpec{Command: "python top.py", Include: []string{"src", "./top.py"}}, ""},
		{"everything included", BuildSpec{Command: "python tools/run.py", Include: []string{"."}}, ""},
		{"outside", BuildSpec{Command: "python ../train.py"}, "outside the project"},
		{"capitals", BuildSpec{Command: "python src/Train.py"}, "src/train.py"},
		{"brought by a dataset", BuildSpec{Command: "python code/run.py", Datasets: []string{"a/b=code"}}, ""},
		{"brought flat", BuildSpec{Command: "python data/run.py", Kernels: []string{"a/b"}}, ""},
		{"data without an input", BuildSpec{Command: "python data/run.py"}, "no such file"},
		{"an extra job", BuildSpec{Command: "python src/train.py", ExtraJobs: []JobSpec{{Name: "x", Command: "python src/x.py"}}}, "extra-job"},
		{"after assembly", BuildSpec{Command: "python src/train.py", Post: []string{"python src/x.py"}}, "post-cmd"},
		{"the assembly", BuildSpec{Command: "python src/train.py", Assemble: "python src/x.py"}, "assemble-cmd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Project = dir
			err := checkScripts(tt.spec)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

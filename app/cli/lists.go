package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// listFlags take several values: repeated, separated by commas (except commands and package requirements, which may hold
// commas), or simply one after the other up to the next flag.
var listFlags = []string{"--runs", "--folds", "--dataset", "--kernel", "--competition", "--model", "--resume-from", "--include", "--pip", "--wheels", "--post-cmd", "--prune-seeds", "--wide-folds"}

// spread rewrites "--folds 0 1 2" to "--folds=0 --folds=1 --folds=2" and "--extra-job NAME CMD" to "--extra-job=NAME=CMD",
// so that the flag parser sees one value a flag. Everything after "--" stays as it is.
func spread(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(out, args[i:]...)
		case slices.Contains(listFlags, a):
			n := values(args[i+1:])
			if n == 0 {
				out = append(out, a) // the parser says that a value is missing
			}
			for _, v := range args[i+1 : i+1+n] {
				out = append(out, a+"="+v)
			}
			i += n
		case a == "--extra-job" && values(args[i+1:]) >= 2:
			out = append(out, a+"="+args[i+1]+"="+args[i+2])
			i += 2
		default:
			out = append(out, a)
		}
	}
	return out
}

// values counts the arguments before the next flag.
func values(args []string) int {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			return i
		}
	}
	return len(args)
}

// commas splits each value at its commas and drops empty ones.
func commas(in []string) []string {
	var out []string
	for _, v := range in {
		for _, x := range strings.Split(v, ",") {
			if x = strings.TrimSpace(x); x != "" {
				out = append(out, x)
			}
		}
	}
	return out
}

// foldNumbers reads --folds: numbers, commas, and ranges like 0-4.
func foldNumbers(in []string) ([]int, error) {
	var out []int
	for _, v := range commas(in) {
		from, to, isRange := strings.Cut(v, "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b-a > 1000 {
			return nil, &usageError{Text: fmt.Sprintf("--folds %s is not a fold number", v), Hint: "write them one after the other: --folds 0 1 2, or as a range: --folds 0-4"}
		}
		for f := a; f <= b; f++ {
			out = append(out, f)
		}
	}
	return out, nil
}

// checkHours refuses a flag of hours that was given and is no length. A flag that was not given stands for its default.
func checkHours(cmd *cobra.Command, flag string) error {
	f := cmd.Flags().Lookup(flag)
	if f == nil || !f.Changed {
		return nil
	}
	h, err := strconv.ParseFloat(f.Value.String(), 64)
	if err != nil || !(h > 0) || math.IsInf(h, 0) {
		return &usageError{Text: fmt.Sprintf("--%s %s is no number of hours above 0", flag, f.Value), Hint: "see: " + cmd.CommandPath() + " --help"}
	}
	return nil
}

// checkStore refuses a place for secrets that does not exist.
func checkStore(store string) error {
	if store == "" || store == "file" || store == "memory" {
		return nil
	}
	return &usageError{Text: fmt.Sprintf("there is no place for secrets called %q", store), Hint: "--store file or --store memory; without the flag the keychain is used"}
}

// secondsFlag is a duration that may be written as bare seconds: 90, 90s, 2h.
type secondsFlag time.Duration

func (s *secondsFlag) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *secondsFlag) Type() string { return "duration" }

func (s *secondsFlag) Set(v string) error {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		v = fmt.Sprintf("%gs", n)
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 90, 90s or 2h", v)
	}
	*s = secondsFlag(d)
	return nil
}

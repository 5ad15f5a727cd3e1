package runnerpack

import (
	"strings"
	"testing"
)

func TestSecretLooks(t *testing.T) {
	hex := func(n int) string { return strings.Repeat("0a1b2c3d", n/8) }
	word := func(n int) string { return strings.Repeat("aB3dE6gH", n/8+1)[:n] }
	for text, want := range map[string]string{
		`{"username":"sam-roe","key":"` + hex(32) + `"}`:      "Kaggle API key",
		`os.environ["KAGGLE_KEY"] = "` + hex(32) + `"`:        "Kaggle API key",
		"export KAGGLE_KEY=" + hex(32):                        "Kaggle API key",
		"KGAT_" + hex(32):                                     "Kaggle API token",
		"-----BEGIN OPENSSH PRIVATE KEY-----":                 "private key",
		`"private_key": "-----BEGIN PRIVATE KEY-----\\nMII"`:  "private key",
		"AKIAIOSFODNN7EXAMPLE":                                "AWS access key",
		"aws_secret_access_key = " + word(40):                 "AWS secret key",
		"hf_" + word(34):                                      "Hugging Face",
		"ghp_" + word(36):                                     "GitHub token",
		"glpat-" + word(20):                                   "GitLab token",
		"sk-proj-" + word(40):                                 "API key",
		"AIza" + word(35):                                     "Google API key",
		"xoxb-" + word(24):                                    "Slack token",
		"pypi-AgEIcHlwaS5vcmc" + word(60):                     "PyPI token",
		"npm_" + word(36):                                     "npm token",
		"sk_live_" + word(24):                                 "Stripe key",
		"1234567890:AA" + word(33):                            "Telegram",
		"AccountKey=" + word(88):                              "Azure",
		"eyJ" + word(20) + ".eyJ" + word(40) + "." + word(43): "web token",
		"postgres://sam:hunter2horse@db.example.org/x":        "password in an address",
		"WANDB_API_KEY=" + hex(40):                            "Weights & Biases",
	} {
		places := findSecrets("a.py", []byte("x = 1\n"+text+"\n"))
		if len(places) == 0 || !strings.Contains(strings.Join(places, " "), want) || !strings.HasPrefix(places[0], "a.py:2: ") {
			t.Errorf("%s in %q: found %q", want, text, places)
		}
		for _, p := range places {
			if strings.Contains(p, text) {
				t.Errorf("%q repeats the secret", p)
			}
		}
	}
	for _, text := range []string{
		"token = os.environ['KGAT_TOKEN']", "# a KGAT_ token looks like KGAT_xxxx", "key = hashlib.md5(x).hexdigest()",
		`{"key": "fold"}`, "sha256 = '" + hex(64) + "'", "hf_hub_download(repo)", "sk-learn and scikit", "AKIA is a prefix",
		"https://example.org/a:b/c@d", "postgres://{user}:{password}@{host}/x", "redis://user:$PASSWORD@host", "ssh://git@github.com:22/x",
		"x = a[1:2]; y = 12345678:90", "git@github.com:sam/roe.git", "http://user:****@host", "pypi-server", "eyJ is how they begin",
		"from_pretrained('org/model-sk-large')", "aws_secret_access_key = os.environ['X']", "npm_config_cache",
	} {
		if places := findSecrets("a.py", []byte(text)); places != nil {
			t.Errorf("%q is no secret: %q", text, places)
		}
	}
}

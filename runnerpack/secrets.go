package runnerpack

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// secretNames are files that hold secrets by custom.
var secretNames = []string{
	"kaggle.json", ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd",
	"credentials", "credentials.json", "client_secret*.json", "service_account*.json", "service-account*.json",
	"access_token", "secrets.*", "secret.*", ".secrets",
}

// secretFolders are folders of credentials.
var secretFolders = []string{".kaggle", ".aws", ".ssh", ".gnupg", ".azure", ".gcloud", ".docker", ".kube"}

// secretName: a file of this name is taken for a secret.
func secretName(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case ".env.example", ".env.sample", ".env.template":
		return false
	}
	for _, pattern := range secretNames {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return false
}

// secretLooks are texts that are secrets whatever the file is called. Each needs
// enough of a tail that a mention of the prefix in code or prose is not one.
var secretLooks = []struct {
	kind string
	re   *regexp.Regexp
}{
	{"a Kaggle API token", regexp.MustCompile(`KGAT_[0-9A-Za-z]{16,}`)},
	{"a Kaggle API key", regexp.MustCompile(`(?i)(?:kaggle_key|"key")\W{1,6}[0-9a-f]{32}\b`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----`)},
	{"an AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{22,})`)},
	{"a Hugging Face token", regexp.MustCompile(`\bhf_[0-9A-Za-z]{30,}`)},
	{"an API key", regexp.MustCompile(`\bsk-(?:proj-|ant-)?[0-9A-Za-z_-]{32,}`)},
	{"a Google API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a Slack token", regexp.MustCompile(`\bxox[abprs]-[0-9A-Za-z-]{16,}`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[0-9A-Za-z_-]{20,}`)},
	{"a PyPI token", regexp.MustCompile(`\bpypi-AgEI[0-9A-Za-z_-]{40,}`)},
	{"an npm token", regexp.MustCompile(`\bnpm_[0-9A-Za-z]{36}\b`)},
	{"a Stripe key", regexp.MustCompile(`\b[sr]k_live_[0-9A-Za-z]{20,}`)},
	{"a Telegram bot token", regexp.MustCompile(`\b[0-9]{8,10}:AA[0-9A-Za-z_-]{33}\b`)},
	{"an AWS secret key", regexp.MustCompile(`(?i)aws_secret_access_key\W{1,6}[0-9A-Za-z/+=]{40}\b`)},
	{"an Azure storage key", regexp.MustCompile(`AccountKey=[0-9A-Za-z+/]{80,}`)},
	{"a signed web token", regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{15,}\.eyJ[0-9A-Za-z_-]{15,}\.[0-9A-Za-z_-]{20,}`)},
	{"a password in an address", regexp.MustCompile(`\b[a-z][a-z0-9+.-]{2,10}://[^\s/:@'"{}$<>]{1,64}:[^\s/:@'"{}$<>*]{6,}@[0-9A-Za-z.-]+`)},
	{"a Weights & Biases key", regexp.MustCompile(`(?i)wandb_api_key\W{1,6}[0-9a-f]{40}\b`)},
}

// findSecrets names the places in data that look like a secret, never the text.
func findSecrets(name string, data []byte) []string {
	var places []string
	for _, s := range secretLooks {
		if at := s.re.FindIndex(data); at != nil {
			line := 1 + bytes.Count(data[:at[0]], []byte{'\n'})
			places = append(places, fmt.Sprintf("%s:%d: %s", name, line, s.kind))
		}
	}
	return places
}

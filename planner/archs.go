package planner

import (
	"slices"
	"strings"
)

// Arch is a known architecture and its facts.
type Arch struct {
	Name   string
	Title  string
	Kind   Kind
	Facts  ModelFacts
	GMACs  float64 // multiply-accumulates of one image at ActsSide, in billions; 0 = not applicable
	Source string
}

// Sources of the facts.
const (
	srcTimm  = "timm, results/benchmark-infer-amp-nchw-pt240-cu124-rtx3090.csv (parameters, GMACs, activations) and benchmark-train-amp-nchw-pt112-cu113-rtx3090.csv (batch that fits 24 GiB)"
	srcYOLO  = "Ultralytics' model definitions yolov8.yaml and yolo11.yaml, layer outputs summed over them; parameters and FLOPs come out as published there"
	srcUNet  = "Ronneberger et al., arXiv 1505.04597, with padding and batch norm, 3 channels in, 1 class, layer outputs summed"
	srcBERT  = "google-research/bert and the models' config.json"
	srcLLM   = "the model's config.json"
	srcLLaMA = "the model's config.json and paper (arXiv 2307.09288, 2407.21783)"
)

// archs are typed facts; tests count each transformer's parameters from its shape and compare.
var archs = slices.Concat(convArchs(), vitArchs(), encoderArchs(), decoderArchs())

// cnn is one row of timm's tables: side, parameters, GMACs and activations in millions, and the batch of its training benchmark
// when that was run at the same side (0 = not known). The family's first listed side is the default.
func cnn(name, title string, side int, params, gmacs, acts float64, fit int) Arch {
	return Arch{Name: name, Title: title, Kind: KindCNN, GMACs: gmacs, Source: srcTimm,
		Facts: ModelFacts{Params: params * 1e6, ActsM: acts, ActsSide: side, FitAMP24: fit}}
}

func convArchs() []Arch {
	list := []Arch{
		cnn("resnet18", "ResNet-18", 224, 11.69, 1.82, 2.48, 512),
		cnn("resnet34", "ResNet-34", 224, 21.80, 3.67, 3.74, 512),
		cnn("resnet50", "ResNet-50", 224, 25.56, 4.11, 11.11, 512),
		cnn("resnet101", "ResNet-101", 224, 44.55, 7.83, 16.23, 256),
		cnn("resnet152", "ResNet-152", 224, 60.19, 11.56, 22.56, 192),
		cnn("resnext50_32x4d", "ResNeXt-50 32x4d", 224, 25.03, 4.26, 14.40, 384),
		cnn("seresnext50_32x4d", "SE-ResNeXt-50 32x4d", 224, 27.56, 4.26, 14.42, 256),
		cnn("efficientnet_b0", "EfficientNet-B0", 224, 5.29, .40, 6.75, 384),
		cnn("efficientnet_b1", "EfficientNet-B1", 240, 7.79, .71, 10.88, 0),
		cnn("efficientnet_b2", "EfficientNet-B2", 256, 9.11, .89, 12.81, 256),
		cnn("efficientnet_b3", "EfficientNet-B3", 288, 12.23, 1.63, 21.49, 128),
		cnn("efficientnet_b4", "EfficientNet-B4", 320, 19.34, 3.13, 34.76, 96),
		cnn("efficientnet_b5", "EfficientNet-B5", 456, 30.39, 10.46, 98.86, 32),
		cnn("efficientnet_b6", "EfficientNet-B6", 528, 43.04, 19.40, 167.39, 16),
		cnn("efficientnet_b7", "EfficientNet-B7", 600, 66.35, 38.33, 289.94, 8),
		cnn("efficientnetv2_s", "EfficientNetV2-S", 300, 21.46, 5.35, 22.73, 128),
		cnn("efficientnetv2_m", "EfficientNetV2-M", 384, 54.14, 15.85, 57.52, 48),
		cnn("efficientnetv2_l", "EfficientNetV2-L", 384, 118.52, 36.10, 101.16, 32),
		cnn("convnext_atto", "ConvNeXt-Atto", 224, 3.70, .55, 3.81, 0),
		cnn("convnext_nano", "ConvNeXt-Nano", 224, 15.59, 2.46, 8.37, 512),
		cnn("convnext_tiny", "ConvNeXt-T", 224, 28.59, 4.47, 13.44, 256),
		cnn("convnext_small", "ConvNeXt-S", 224, 50.22, 8.71, 21.56, 192),
		cnn("convnext_base", "ConvNeXt-B", 224, 88.59, 15.38, 28.75, 128),
		cnn("convnext_large", "ConvNeXt-L", 224, 197.77, 34.40, 43.13, 96),
		cnn("swin_tiny", "Swin-T", 224, 28.29, 4.51, 17.06, 256),
		cnn("swin_base", "Swin-B", 224, 87.77, 15.47, 36.63, 128),
		cnn("mobilenetv3_large_100", "MobileNetV3-L", 224, 5.48, .23, 4.41, 512),
		cnn("densenet121", "DenseNet-121", 224, 7.98, 2.87, 6.90, 256),
		cnn("regnety_032", "RegNetY-3.2GF", 224, 19.44, 3.20, 11.26, 384),
		cnn("vgg16", "VGG-16", 224, 138.36, 15.47, 13.56, 384),
	}
	for _, y := range []struct {
		name                string
		params, gflop, acts float64
	}{
		{"yolov8n", 3.1572, 8.7, 15.3}, {"yolov8s", 11.16656, 28.6, 27.7}, {"yolov8m", 25.90264, 78.9, 48.7}, {"yolov8l", 43.69152, 165.1, 74.8}, {"yolov8x", 68.229648, 257.8, 93.2},
		{"yolo11n", 2.62408, 6.5, 18.1}, {"yolo11s", 9.458752, 21.5, 33.1}, {"yolo11m", 20.114688, 68.0, 69.6}, {"yolo11l", 25.37216, 86.9, 89.9}, {"yolo11x", 56.966176, 194.9, 134.2},
	} {
		title := strings.Replace(strings.ToUpper(y.name[:4])+y.name[4:], "YOLO11", "YOLO11-", 1)
		list = append(list, Arch{Name: y.name, Title: title, Kind: KindCNN, GMACs: y.gflop / 2, Source: srcYOLO,
			Facts: ModelFacts{Params: y.params * 1e6, ActsM: y.acts, ActsSide: 640}})
	}
	return append(list, Arch{Name: "unet", Title: "U-Net", Kind: KindCNN, GMACs: 48.2, Source: srcUNet,
		Facts: ModelFacts{Params: 31.043521e6, ActsM: 39.9, ActsSide: 256}})
}

func vitArchs() []Arch {
	vit := func(name, title string, side int, params, gmacs float64, layers, hidden, heads int) Arch {
		return Arch{Name: name, Title: title, Kind: KindTransformer, GMACs: gmacs, Source: srcTimm + "; shape: arXiv 2010.11929",
			Facts: ModelFacts{Params: params * 1e6, Layers: layers, Hidden: hidden, Heads: heads, FFN: 4 * hidden, Patch: 16, ActsSide: side, Encoder: true}}
	}
	return []Arch{
		vit("vit_tiny_patch16_224", "ViT-Ti/16", 224, 5.72, 1.26, 12, 192, 3),
		vit("vit_small_patch16_224", "ViT-S/16", 224, 22.05, 4.61, 12, 384, 6),
		vit("vit_base_patch16_224", "ViT-B/16", 224, 86.57, 17.58, 12, 768, 12),
		vit("vit_base_patch16_384", "ViT-B/16 384", 384, 86.86, 0, 12, 768, 12),
		vit("vit_large_patch16_224", "ViT-L/16", 224, 304.33, 61.60, 24, 1024, 16),
		vit("vit_large_patch16_384", "ViT-L/16 384", 384, 304.715752, 0, 24, 1024, 16),
	}
}

func encoderArchs() []Arch {
	enc := func(name, title string, params float64, layers, hidden, heads, ffn, vocab int, gated bool) Arch {
		return Arch{Name: name, Title: title, Kind: KindTransformer, Source: srcBERT,
			Facts: ModelFacts{Params: params * 1e6, Layers: layers, Hidden: hidden, Heads: heads, FFN: ffn, Vocab: vocab, Gated: gated, Tied: true, Encoder: true}}
	}
	return []Arch{
		enc("bert-base", "BERT base", 109.5, 12, 768, 12, 3072, 30522, false),
		enc("bert-large", "BERT large", 335.1, 24, 1024, 16, 4096, 30522, false),
		enc("distilbert", "DistilBERT", 66.4, 6, 768, 12, 3072, 30522, false),
		enc("roberta-base", "RoBERTa base", 124.6, 12, 768, 12, 3072, 50265, false),
		enc("roberta-large", "RoBERTa large", 355.4, 24, 1024, 16, 4096, 50265, false),
		enc("xlm-roberta-base", "XLM-R base", 278.0, 12, 768, 12, 3072, 250002, false),
		enc("deberta-v3-small", "DeBERTa-v3 small", 141.3, 6, 768, 12, 3072, 128100, false),
		enc("deberta-v3-base", "DeBERTa-v3 base", 183.8, 12, 768, 12, 3072, 128100, false),
		enc("deberta-v3-large", "DeBERTa-v3 large", 434.0, 24, 1024, 16, 4096, 128100, false),
		enc("modernbert-base", "ModernBERT base", 149.0, 22, 768, 12, 1152, 50368, true),
	}
}

func decoderArchs() []Arch {
	dec := func(name, title string, params float64, layers, hidden, heads, kv, ffn, vocab int, tied bool, source string) Arch {
		return Arch{Name: name, Title: title, Kind: KindTransformer, Source: source,
			Facts: ModelFacts{Params: params * 1e9, Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kv, FFN: ffn, Vocab: vocab, Gated: true, Tied: tied}}
	}
	gpt2 := dec("gpt2", "GPT-2", .1244, 12, 768, 12, 12, 3072, 50257, true, srcLLM)
	gpt2.Facts.Gated = false
	return []Arch{
		gpt2,
		dec("llama-2-7b", "Llama 2 7B", 6.738, 32, 4096, 32, 32, 11008, 32000, false, srcLLaMA),
		dec("llama-2-13b", "Llama 2 13B", 13.016, 40, 5120, 40, 40, 13824, 32000, false, srcLLaMA),
		dec("llama-3-8b", "Llama 3 8B", 8.030, 32, 4096, 32, 8, 14336, 128256, false, srcLLaMA),
		dec("llama-3.2-1b", "Llama 3.2 1B", 1.236, 16, 2048, 32, 8, 8192, 128256, true, srcLLM),
		dec("llama-3.2-3b", "Llama 3.2 3B", 3.213, 28, 3072, 24, 8, 8192, 128256, true, srcLLM),
		dec("mistral-7b", "Mistral 7B", 7.242, 32, 4096, 32, 8, 14336, 32000, false, srcLLM),
		dec("qwen-1.8b", "Qwen 1.8B", 1.837, 24, 2048, 16, 16, 5504, 151936, false, srcLLM),
		dec("qwen-7b", "Qwen 7B", 7.721, 32, 4096, 32, 32, 11008, 151936, false, srcLLM),
		dec("qwen2.5-0.5b", "Qwen2.5 0.5B", .494, 24, 896, 14, 2, 4864, 151936, true, srcLLM),
		dec("qwen2.5-1.5b", "Qwen2.5 1.5B", 1.544, 28, 1536, 12, 2, 8960, 151936, true, srcLLM),
		dec("qwen2.5-3b", "Qwen2.5 3B", 3.086, 36, 2048, 16, 2, 11008, 151936, true, srcLLM),
		dec("qwen2.5-7b", "Qwen2.5 7B", 7.616, 28, 3584, 28, 4, 18944, 152064, false, srcLLM),
	}
}

// Architectures lists the known architectures.
func Architectures() []Arch { return slices.Clone(archs) }

// archAlias is what people also write.
var archAlias = map[string]string{
	"convnexttiny": "convnext_tiny", "convnextt": "convnext_tiny", "convnexts": "convnext_small", "convnextb": "convnext_base", "convnextl": "convnext_large",
	"vitti16": "vit_tiny_patch16_224", "vittiny": "vit_tiny_patch16_224", "vits16": "vit_small_patch16_224", "vitsmall": "vit_small_patch16_224", "vitb16": "vit_base_patch16_224",
	"vitbase": "vit_base_patch16_224", "vitl16": "vit_large_patch16_224", "vitlarge": "vit_large_patch16_224",
	"bertbaseuncased": "bert-base", "bertbasecased": "bert-base", "bertlargeuncased": "bert-large", "bertlargecased": "bert-large", "distilbertbaseuncased": "distilbert",
	"swint": "swin_tiny", "swinb": "swin_base", "resnext50": "resnext50_32x4d", "seresnext50": "seresnext50_32x4d", "mobilenetv3": "mobilenetv3_large_100",
	"llama27b": "llama-2-7b", "llama7b": "llama-2-7b", "llama213b": "llama-2-13b", "llama38b": "llama-3-8b", "llama318b": "llama-3-8b", "mistral7bv01": "mistral-7b",
}

func plainName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if i := strings.LastIndex(s, "/"); i >= 0 {
		s = s[i+1:] // owner/model
	}
	if i := strings.Index(s, "."); i > 0 && strings.Contains(s[i:], "_in") {
		s = s[:i] // timm's tag of the weights: convnext_tiny.fb_in1k
	}
	s = strings.TrimPrefix(s, "tf_")
	return plainer.Replace(s)
}

var plainer = strings.NewReplacer("-", "", "_", "", " ", "", ".", "")

// archByName are the architectures by plain name.
var archByName = func() map[string]Arch {
	m := map[string]Arch{}
	for _, a := range archs {
		m[plainName(a.Name)] = a
	}
	return m
}()

// LookupArch finds an architecture by name; letter case, dashes, an owner before a slash and timm's weight tags do not matter.
func LookupArch(name string) (Arch, bool) {
	n := plainName(name)
	if n == "" {
		return Arch{}, false
	}
	if full, ok := archAlias[n]; ok {
		n = plainName(full)
	}
	a, ok := archByName[n]
	return a, ok
}

// SimilarArchs are names that resemble one that is not known, for a hint.
func SimilarArchs(name string) []string {
	n := plainName(name)
	var out []string
	for _, a := range archs {
		p := plainName(a.Name)
		if n != "" && (strings.Contains(p, n) || strings.Contains(n, p) || commonPrefix(p, n) >= 5) {
			out = append(out, a.Name)
		}
	}
	return out
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// fill takes the architecture's facts for what the person did not say.
func (a Arch) fill(m *ModelFacts) {
	f := a.Facts
	m.Arch = a.Name
	if m.Params == 0 {
		m.Params = f.Params
	}
	for _, p := range []struct {
		to   *int
		from int
	}{{&m.Layers, f.Layers}, {&m.Hidden, f.Hidden}, {&m.Heads, f.Heads}, {&m.KVHeads, f.KVHeads}, {&m.FFN, f.FFN}, {&m.Vocab, f.Vocab},
		{&m.Patch, f.Patch}, {&m.ActsSide, f.ActsSide}, {&m.FitAMP24, f.FitAMP24}} {
		if *p.to == 0 {
			*p.to = p.from
		}
	}
	if m.ActsM == 0 {
		m.ActsM = f.ActsM
	}
	m.Gated, m.Tied, m.Encoder = m.Gated || f.Gated, m.Tied || f.Tied, m.Encoder || f.Encoder
}

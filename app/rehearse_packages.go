package app

import (
	"regexp"
	"strings"
)

// What Kaggle's images have, of what people import. A name that is in no list is unknown, not absent.
//
// Sources, read in 2026: github.com/Kaggle/docker-python, kaggle_requirements.txt and Dockerfile.tmpl (what is laid over the base
// image of the CPU and GPU sessions) and tpu/requirements.in (the TPU image); github.com/googlecolab/backend-info,
// pip-freeze.gpu.txt (the base image). The images are rebuilt every few weeks and unpinned packages come and go.
const (
	gpuImageModules = `numpy pandas scipy sklearn torch torchvision torchaudio tensorflow keras tf_keras jax jaxlib flax optax orbax lightgbm xgboost
catboost transformers datasets tokenizers accelerate peft diffusers timm safetensors sentencepiece sentence_transformers huggingface_hub tiktoken
einops torchmetrics pytorch_lightning torchinfo torchtune torchao torchdata ignite kornia fastai fastcore albumentations cv2 PIL skimage imageio
matplotlib seaborn plotly bokeh altair tqdm yaml requests joblib cloudpickle dill numba llvmlite cython Cython sympy networkx igraph statsmodels
patsy polars pyarrow duckdb dask h5py tables xarray nltk spacy gensim textblob emoji regex librosa soundfile soxr pydub wandb tensorboard optuna
hyperopt skopt bayes_opt category_encoders imblearn mlxtend boruta featuretools tsfresh prophet shap lime eli5 umap hdbscan pynndescent
cupy cudf cuml annoy SimpleITK nibabel nilearn dipy mne pydicom pycocotools easyocr pytesseract openslide segment_anything tifffile
geopandas shapely fiona pyproj rasterio rtree folium haversine ray kaggle kagglehub kaggle_environments gymnasium gym absl psutil packaging
dateutil pytz six attr attrs click rich typer jinja2 markdown bs4 lxml html5lib openpyxl xlrd sqlalchemy google protobuf boto3 s3fs gcsfs fsspec
filelock zstandard orjson simplejson jsonschema pydantic fastapi flask aiohttp httpx websockets pytest IPython ipywidgets notebook
nbformat nbconvert papermill tensorflow_hub tensorflow_datasets tensorflow_probability tensorflow_text keras_cv keras_nlp keras_hub keras_tuner
cvxpy cvxopt pulp osqp stumpy arviz pymc holidays wordcloud missingno ydata_profiling yellowbrick omegaconf ml_dtypes fuzzywuzzy
jieba langid openai langchain gradio yfinance moviepy music21 editdistance humanize tabulate termcolor
treelite ydf h2o pandasql pywt wavio graphviz pydot learntools hep_ml kmodes surprise skmultilearn deap`

	tpuImageModules = `numpy scipy sklearn torch torchvision torchaudio torch_xla tensorflow keras jax jaxlib libtpu flax optax haiku distrax jraph trax tunix
qwix grain tensorflow_hub tensorflow_io tensorflow_probability tensorflow_datasets keras_cv keras_nlp kagglehub accelerate albumentations diffusers
einops fastparquet ipywidgets matplotlib cv2 pandas pyarrow seaborn timm transformers tpu_info PIL tqdm yaml requests huggingface_hub safetensors
tokenizers joblib regex packaging psutil filelock fsspec sympy networkx jinja2 dateutil pytz six absl papermill notebook`
)

// tpuImageLacks are modules that people miss on the TPU image.
const tpuImageLacks = `lightgbm xgboost catboost`

// packageKnown is what is known of a module on Kaggle's image.
type packageKnown int

const (
	packageUnknown packageKnown = iota
	packageThere
	packageAbsent
)

var imageModules = map[string]map[string]packageKnown{
	PoolGPU: imageList(gpuImageModules, ""),
	PoolTPU: imageList(tpuImageModules, tpuImageLacks),
}

func imageList(there, absent string) map[string]packageKnown {
	out := map[string]packageKnown{}
	for _, m := range strings.Fields(there) {
		out[m] = packageThere
	}
	for _, m := range strings.Fields(absent) {
		out[m] = packageAbsent
	}
	return out
}

// onImage says whether a module is on the image of a pool's sessions. CPU sessions use the image of the GPU ones, built without
// CUDA: torch and tensorflow are there too.
func onImage(pool, module string) packageKnown {
	if pool != PoolTPU {
		pool = PoolGPU
	}
	return imageModules[pool][module]
}

// pipNames are packages whose name is not that of their module.
var pipNames = map[string]string{
	"sklearn": "scikit-learn", "cv2": "opencv-python-headless", "PIL": "pillow", "skimage": "scikit-image", "yaml": "pyyaml", "bs4": "beautifulsoup4",
	"dateutil": "python-dateutil", "attr": "attrs", "imblearn": "imbalanced-learn", "umap": "umap-learn", "skopt": "scikit-optimize",
	"bayes_opt": "bayesian-optimization", "Levenshtein": "python-Levenshtein", "faiss": "faiss-cpu", "hydra": "hydra-core", "rdkit": "rdkit",
	"segmentation_models_pytorch": "segmentation-models-pytorch", "pytorch_lightning": "pytorch-lightning", "Bio": "biopython",
	"igraph": "igraph", "ignite": "pytorch-ignite", "pywt": "PyWavelets", "haiku": "dm-haiku", "git": "GitPython", "dotenv": "python-dotenv",
}

// pipName is what to install for a module.
func pipName(module string) string {
	if n, ok := pipNames[module]; ok {
		return n
	}
	return strings.ReplaceAll(module, "_", "-")
}

var requirementName = regexp.MustCompile(`^\??\s*([A-Za-z0-9][A-Za-z0-9._-]*)`)

// pipInstalls says whether one of the packages that the session installs brings a module, as far as names tell.
func pipInstalls(pip []string, module string) bool {
	norm := func(s string) string { return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(s)) }
	for _, p := range pip {
		m := requirementName.FindStringSubmatch(p)
		if m != nil && (norm(m[1]) == norm(module) || norm(m[1]) == norm(pipName(module))) {
			return true
		}
	}
	return false
}

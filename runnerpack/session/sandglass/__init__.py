"""What a training script can use inside a Sandglass session, and on a laptop as well.

sandglass.budget     TrainBudget for loops of epochs, Deadline for every other loop
sandglass.callbacks  TrainBudget inside LightGBM, XGBoost, CatBoost, Lightning, Keras and Hugging Face
sandglass.bench      is training waiting for its data, and which batch fits
sandglass.xla        what a torch_xla trainer needs of its TPU chip
sandglass.atomic     writing files so that a kill leaves the old content or the new one

Standard library only; nothing is imported from a training framework until a callback of that framework is asked for.
"""

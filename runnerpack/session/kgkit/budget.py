"""`from kgkit.budget import TrainBudget` is `from sandglass.budget import TrainBudget`."""

from sandglass.budget import Deadline, TrainBudget  # noqa: F401

"""Nearest neighbours, one answer everywhere.

>>> import numpy as np, kith
>>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
>>> distances, indices = kith.Index(points).knn([[0.9, 0.1]], k=2)
>>> indices
array([[1, 0]])

`Index` searches points by any metric on CPU and GPU, `CoverTree` also bits, strings, sets, and
whatever a function of yours measures. `kith.spatial` has the classes of
``scipy.spatial``, `kith.neighbors` the estimators of ``sklearn.neighbors``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._arrays import DataConversionNote
from ._build_plan import BuildPlan, plan
from ._config import DeviceInfo, Profile, devices, memory_limit, profile, show_config, use_profile
from ._cover_tree import CoverTree
from ._dedupe import Deduped, dedupe
from ._distance import CloudDistance, DirectedDistance, distance
from ._downsample import Downsampled, downsample
from ._files import PointFile, generate, read_points, write_points
from ._index import Index
from ._kith import __version__
from ._lists import NeighborLists, PointLists
from ._normals import Normals, normals
from ._outliers import Outliers, outliers
from ._register_pairs import register_pairs
from ._registration import (
    GlobalStart,
    Registration,
    RegistrationIteration,
    RegistrationTarget,
    WeakDirection,
    register,
)
from ._sequence_files import SequenceFile, read_sequences
from ._sharded_index import ShardedIndex, StoredShards
from ._transform import read_pose, transform, write_pose
from ._tree_export import InOrderTree, NodeTable, export_tree
from ._view import View, view

__all__ = [
    "BuildPlan",
    "CloudDistance",
    "CoverTree",
    "DataConversionNote",
    "Deduped",
    "DeviceInfo",
    "DirectedDistance",
    "Downsampled",
    "GlobalStart",
    "InOrderTree",
    "Index",
    "NeighborLists",
    "NodeTable",
    "Normals",
    "Outliers",
    "PointFile",
    "PointLists",
    "Profile",
    "Registration",
    "RegistrationIteration",
    "RegistrationTarget",
    "SequenceFile",
    "ShardedIndex",
    "StoredShards",
    "View",
    "WeakDirection",
    "__version__",
    "dedupe",
    "devices",
    "distance",
    "downsample",
    "export_tree",
    "generate",
    "memory_limit",
    "normals",
    "outliers",
    "plan",
    "profile",
    "read_points",
    "read_pose",
    "read_sequences",
    "register",
    "register_pairs",
    "show_config",
    "transform",
    "use_profile",
    "view",
    "write_points",
    "write_pose",
]

# Imported when first used: they need packages that not everybody has.
_SUBMODULES = frozenset({"dask", "mpi", "neighbors", "plot", "spatial"})

if TYPE_CHECKING:  # a function __getattr__ would let every misspelt name pass
    from . import dask, mpi, neighbors, plot, spatial
else:

    def __getattr__(name: str) -> Any:
        if name in _SUBMODULES:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES, *(name for name in globals() if name.startswith("__"))})

"""The extension module. The Python code of the package is written on it; users see the package."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

__version__: str

_Engine = Literal["brute", "kdtree", "covertree"]

# Called with (stage, done, total) at most every 50 ms, with the GIL; what it raises stops the work
# and comes out of the call. Ctrl-C does the same, whether there is one or not.
_Progress = Callable[[str, int, int], Any] | None

# float32 or float64, two dimensions, the numbers of a row side by side; rows may lie apart. Neither
# is copied. `_arrays.as_rows` and `as_queries` make these of anything.
_Rows = npt.NDArray[np.float32] | npt.NDArray[np.float64] | DeviceRows
_Distances = npt.NDArray[Any]  # of the type of the points
_Int64 = npt.NDArray[np.int64]
_Radii = float | npt.NDArray[np.float64]  # one, or one for each query (contiguous)

# Errors: ValueError (usage, bad data, damaged files), TypeError (wrong types), OSError,
# MemoryError, RuntimeError (GPU), KeyboardInterrupt. All calls release the GIL but `knn_one`.

def built_with_cuda() -> bool: ...
def metric_names() -> list[tuple[str, list[str]]]:
    """The pattern, such as lp:P, and the other names of each metric of vectors."""
class MemoryLimit:
    def __init__(self, bytes: int, /) -> None: ...
    def end(self) -> None: ...

def devices() -> list[tuple[str, str, int, int, str]]:
    """(device, name, memory in bytes, threads, instruction set) of each; the CPU first."""
def use_profile(path: str) -> tuple[str, str, dict[str, int]]:
    """(path, note, values); "": the profile that is found by itself, "none": built-in values."""
def profile_in_use() -> tuple[str, str, dict[str, int]]:
    """What the last `use_profile` returned."""

def run_command(words: Sequence[str]) -> int:
    """Runs the command kith and returns its exit code. Takes the signals over for good."""

def require_answer_memory(queries: int, k: int, bytes_each: int) -> None:
    """MemoryError if the machine cannot hold so many neighbours of so many queries."""

class DeviceRows:
    """Rows in the memory of a GPU; `row_stride` in elements. Does not keep the array alive."""

    def __init__(
        self, address: int, dtype: str, rows: int, dims: int, row_stride: int, ordinal: int
    ) -> None: ...

class DeviceBits:
    """Packed rows of bits in the memory of a GPU. Does not keep the array alive."""

    def __init__(self, address: int, rows: int, bits: int, row_bytes: int) -> None: ...

class _AnyIndex:
    """What every index offers. Immutable; threads may share it. Queries are _Rows, BitRows or
    Sequences; None searches for the points themselves."""

    @classmethod
    def load(
        cls, path: str, *, device: str = "auto", threads: int = 0, map: bool = False,
        progress: _Progress = None,
    ) -> Self: ...
    @classmethod
    def from_bytes(
        cls, content: bytes | memoryview, *, device: str = "auto", threads: int = 0,
        progress: _Progress = None,
    ) -> Self: ...
    def save(self, path: str, *, threads: int = 0, progress: _Progress = None) -> None: ...
    def to_bytes(self, *, threads: int = 0, progress: _Progress = None) -> bytes: ...

    # Every search takes these by keyword, as far as they make sense for it (else ValueError):
    #   squared, exclude_self, earlier_only, skip_nonfinite: bool = False
    #   max_neighbors: int = 0 (radius), max_leaves: int = 0, max_distance: float = inf (inclusive),
    #   eps: float = 0 (knn), threads: int = 0, progress: _Progress = None,
    #   allowed: words of uint64, bit i % 64 of word i // 64 for point i, or None
    #   index_below: uint32 for each query, or None

    def knn(
        self, queries: Any, k: int, **options: Any
    ) -> tuple[_Distances, _Int64, npt.NDArray[np.bool_] | None]:
        """Distances and indices of shape (queries, k), by (distance, index); missing ones are
        (inf, number of points). The third says which are certainly exact; None if all are."""

    def radius(
        self, queries: Any, radius: _Radii, **options: Any
    ) -> tuple[_Distances, _Int64, _Int64]:
        """Distances, indices and offsets: the list of query q is offsets[q]:offsets[q + 1], ordered
        by (distance, index). Points at exactly that distance belong to it."""

    def count(self, queries: Any, radius: _Radii, **options: Any) -> _Int64: ...
    def first_violation(self) -> str: ...
    def explain(self) -> str: ...
    def explain_search(self, k: int | None, queries: int | None, **options: Any) -> str:
        """The path of kNN, or without k of a radius search; None queries: the points."""
    @property
    def size(self) -> int: ...
    @property
    def metric(self) -> str: ...
    @property
    def engine(self) -> _Engine: ...
    @property
    def device(self) -> str: ...
    @property
    def memory_bytes(self) -> int: ...

class Index(_AnyIndex):
    """kith::Index."""

    @staticmethod
    def build(
        points: _Rows,
        *,
        engine: str = "auto",  # auto, brute, kdtree, covertree
        device: str = "auto",  # auto, cpu, cuda, cuda:N
        metric: str = "l2",  # see metric_names
        leaf_size: int = 0,
        split: str = "widest",  # widest, cycle
        builder: str = "auto",  # k-d tree: histogram, presort, select, segsort; cover tree: batch, lists
        metric_params: Sequence[float] = [],
        period: Sequence[float] = [],  # a length for each axis, 0: it does not wrap
        expected_queries: int = 0,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: _Progress = None,
    ) -> Index: ...
    @staticmethod
    def from_tree(
        path: str,
        points: _Rows | None = None,  # those that a node table was made from
        *,
        engine: str = "auto",
        device: str = "auto",
        metric: str = "l2",
        leaf_size: int = 0,
        split: str = "widest",
        builder: str = "auto",
        metric_params: Sequence[float] = [],
        period: Sequence[float] = [],
        expected_queries: int = 0,
        threads: int = 0,
        progress: _Progress = None,
    ) -> Index: ...
    def knn_one(self, query: npt.NDArray[Any], k: int, **options: Any) -> tuple[_Distances, _Int64]:
        """The same for one query of shape (dims,), contiguous and of the type of the points, with
        low latency: on this thread, the GIL held. Ignores skip_nonfinite, threads, progress."""

    def radius_one(
        self, query: npt.NDArray[Any], radius: float, **options: Any
    ) -> tuple[_Distances, _Int64]:
        """The distances and indices of `radius` for one query of shape (dims,), as in `knn_one`."""

    def count_one(self, query: npt.NDArray[Any], radius: float, **options: Any) -> int: ...
    def box(self, lower: _Rows, upper: _Rows, **options: Any) -> tuple[_Int64, _Int64]:
        """Indices, ascending for each box, and offsets."""

    def box_count(self, lower: _Rows, upper: _Rows, **options: Any) -> _Int64: ...
    def points(self, threads: int = 0) -> npt.NDArray[Any]: ...
    @property
    def dims(self) -> int: ...
    @property
    def dtype(self) -> str: ...  # f32 or f64
    @property
    def metric_params(self) -> list[float]: ...
    @property
    def holds_points(self) -> bool: ...
    @property
    def skipped(self) -> int: ...

def plan(
    rows: int, dims: int, dtype: str, *, engine: str = "auto", device: str = "auto",
    metric: str = "l2", leaf_size: int = 0, split: str = "widest", builder: str = "auto",
    metric_params: Sequence[float] = [], period: Sequence[float] = [], expected_queries: int = 0,
    threads: int = 0,
) -> tuple[_Engine, str, int, int, str]:
    """Engine, device, bytes of the index, most bytes in use while it is built, reason."""

class _AnyDeviceSearch:
    """kith::DeviceSearchOf: answers into memory of the GPU that holds the index, in a stream.

    Arrays are addresses: indices of neighbours are int64, those in boxes and counts uint32, offsets and packed words uint64, wide numbers int64, radii
    float64, flags bytes; 0: there is none. Nothing waits; the caller keeps arrays alive. Keywords: stream (a handle),
    squared, exclude_self, earlier_only, max_distance, eps, max_leaves, allowed and index_below (addresses).
    """

    def knn(
        self,
        queries: DeviceRows | DeviceBits | None,
        k: int,
        indices: int,
        distances: int,
        exact: int,
        **options: Any,
    ) -> None: ...
    def count(
        self,
        queries: DeviceRows | DeviceBits | None,
        radius: float,
        radii: int,
        counts: int,
        **options: Any,
    ) -> None: ...
    def offsets(self, counts: int, lists: int, offsets: int, **options: Any) -> None: ...
    def widen(self, numbers: int, count: int, wide: int, **options: Any) -> None: ...
    def pack(self, flags: int, count: int, words: int, **options: Any) -> None: ...
    def radius(
        self,
        queries: DeviceRows | DeviceBits | None,
        radius: float,
        radii: int,
        offsets: int,
        indices: int,
        distances: int,
        **options: Any,
    ) -> None: ...

class DeviceSearch(_AnyDeviceSearch):
    def __init__(self, index: Index) -> None: ...
    def box_count(
        self, lower: DeviceRows, upper: DeviceRows, counts: int, **options: Any
    ) -> None: ...
    def box(
        self, lower: DeviceRows, upper: DeviceRows, offsets: int, indices: int, **options: Any
    ) -> None: ...

class DeviceBitSearch(_AnyDeviceSearch):
    def __init__(self, index: BitIndex) -> None: ...

# For kith.spatial. Indices and arrays are of float64.

def ball_lists(
    index: Index, queries: npt.NDArray[np.float64], radii: _Radii, ascending: bool, threads: int
) -> list[list[int]]:
    """For each query the points within the radius, by number or by (distance, number)."""

def ball_list(
    index: Index, query: npt.NDArray[np.float64], radius: float, ascending: bool
) -> list[int]:
    """The same for one query of shape (dims,), contiguous, with low latency."""

def pairs(
    index: Index, radius: float, as_set: bool
) -> set[tuple[int, int]] | npt.NDArray[np.int64]:
    """All pairs of points within the radius; as an array in ascending order."""

class SpatialTree:
    """A k-d tree with nodes that can be looked at; points below `split` are on the lesser side."""

    def __init__(
        self, points: npt.NDArray[np.float64], leaf_size: int, balanced: bool, compact: bool
    ) -> None: ...
    @property
    def size(self) -> int: ...  # nodes
    def nodes(self) -> dict[str, npt.NDArray[Any]]:
        """split_dim (-1: a leaf), split, start, end, lesser, greater of each node, root first."""

    def indices(self) -> _Int64:
        """The points in the order of the tree: a node holds start to end of these."""

def pair_counts(
    first: SpatialTree,
    second: SpatialTree,
    radii: npt.NDArray[np.float64],  # ascending
    metric: str,  # l2, l1, linf, lp:P
    period: npt.NDArray[np.float64],  # a length for each axis, 0: it does not wrap; or empty
    first_weights: npt.NDArray[np.float64] | None,
    second_weights: npt.NDArray[np.float64] | None,
    threads: int,
) -> npt.NDArray[Any]:
    """How many pairs lie within each radius, less those within the one before it: int64, or with
    weights the sums of their products."""

def read_points(
    path: str,
    *,
    format: str = "auto",
    dtype: str | None = None,
    columns: Sequence[str] = [],
    label: str = "",
    extras: Sequence[str] = [],
    delimiter: str = "",
    decimal: str = "",
    header: bool | None = None,
    missing_as_nan: bool = False,
    array: str = "",
    layout: str = "",
    threads: int = 0,
    progress: _Progress = None,
) -> dict[str, Any]:
    """points, columns, labels (codes, names) or None, extras or None, extra_columns, format,
    notes."""

def write_points(
    path: str,
    points: _Rows,
    *,
    format: str = "auto",
    columns: Sequence[str] = [],
    codes: npt.NDArray[np.uint32] | None = None,
    names: Sequence[str] = [],
    ascii: bool = False,
    progress: _Progress = None,
) -> None: ...
def generate(
    shape: str,
    points: int,
    dims: int,
    *,
    seed: int = 1,
    dtype: str | None = None,
    classes: int = 10,
    threads: int = 0,
    progress: _Progress = None,
) -> tuple[npt.NDArray[Any], _Int64 | None]: ...
def classify(
    points: _Rows,
    codes: npt.NDArray[np.uint32],  # the class of each point, below `classes`
    classes: int,
    queries: _Rows,
    *,
    k: int = 5,
    weights: str = "uniform",  # uniform, distance
    ties: str = "nearest",  # nearest, lowest, highest
    metric: str = "l2",
    engine: str = "auto",
    device: str = "auto",
    shares: bool = False,
    threads: int = 0,
    progress: _Progress = None,
) -> dict[str, Any]:
    """kith::apps::classify. A dict of codes (int64), shares (queries x classes) or None, depth,
    rounds and explanation."""

def classify_sequential(
    points: _Rows, codes: npt.NDArray[np.uint32], classes: int, queries: _Rows, *, k: int = 5,
    weights: str = "uniform", ties: str = "nearest", metric: str = "l2", engine: str = "auto",
    device: str = "auto", shares: bool = False, threads: int = 0, progress: _Progress = None,
) -> dict[str, Any]:
    """The same, but a query, once labelled, is a point for those after it."""

def dedupe(
    points: _Rows,
    scores: npt.NDArray[np.float64] | None,
    want_map: bool,
    device: str,
    *,
    tolerance: float | None,
    metric: str,
    metric_params: Sequence[float],
    prefer_low: bool,
    skip_nonfinite: bool,
    threads: int,
    progress: _Progress,
) -> tuple[_Int64, _Int64 | None, int]:
    """kith::apps::dedupe: kept, map and skipped."""

def dedupe_on_device(
    points: DeviceRows, scores: int, kept: int, map: int, stream: int, *, tolerance: float | None,
    metric: str, metric_params: Sequence[float], prefer_low: bool, skip_nonfinite: bool,
    threads: int, progress: _Progress,
) -> tuple[int, int]:
    """The same for addresses on a GPU, 0 for none; `kept` and `map` are of uint32, one per point.
    How many are kept, and skipped."""

def transform(
    points: _Rows,
    pose: Sequence[float],
    *,
    inverse: bool,
    directions: bool,
    skip_nonfinite: bool,
    device: str,
    threads: int,
    progress: _Progress,
) -> _Distances:
    """kith::apps::transform, or turn_directions; a pose is 16 numbers, row by row."""

def downsample(
    points: _Rows,
    *,
    voxel: float | None,
    keep: str,
    farthest: int | None,
    start: int,
    distance: float | None,
    want_map: bool,
    skip_nonfinite: bool,
    device: str,
    threads: int,
    progress: _Progress,
) -> tuple[_Distances, _Int64, _Int64 | None, _Int64 | None, int]:
    """kith::apps::downsample: points, rows, counts, map and skipped."""

def outliers(
    points: _Rows,
    *,
    neighbors: int | None,
    ratio: float,
    radius: float | None,
    min_neighbors: int,
    skip_nonfinite: bool,
    device: str,
    threads: int,
    progress: _Progress,
) -> dict[str, Any]:
    """kith::apps::outliers; "values" are mean distances or counts."""

def view_page(
    clouds: list[dict[str, Any]], *, title: str, color: str, exact: bool, threads: int, progress: _Progress
) -> str:
    """kith::apps::view_page; of each cloud name, points, columns, pose, indices, distances, searched, neighbors_of."""

def write_text(path: str, text: str) -> None:
    """kith::io::write_text."""

def cloud_distance(
    first: _Rows,
    second: _Rows,
    *,
    symmetric: bool,
    max_distance: float,
    percentiles: Sequence[float],
    skip_nonfinite: bool,
    device: str,
    threads: int,
    progress: _Progress,
) -> tuple[dict[str, Any], dict[str, Any] | None, float, float, float]:
    """kith::apps::cloud_distance: forward, backward, chamfer, chamfer_squared and hausdorff."""

def normals(
    points: _Rows,
    *,
    neighbors: int,
    radius: float | None,
    orient: str,
    viewpoint: Sequence[float],
    skip_nonfinite: bool,
    device: str,
    threads: int,
    progress: _Progress,
) -> tuple[_Distances, _Distances]:
    """kith::apps::normals: normals and curvature, of shape (n, 1)."""

def normals_on_device(
    points: DeviceRows, normals: int, curvature: int, progress: _Progress, **options: Any
) -> None:
    """The same for addresses on a GPU. The options of this and those that follow have a stream."""

def transform_on_device(
    points: DeviceRows, pose: Sequence[float], moved: int, progress: _Progress, **options: Any
) -> None: ...
def downsample_on_device(
    points: DeviceRows, sample: int, rows: int, counts: int, map: int, progress: _Progress, **options: Any
) -> tuple[int, int]:
    """Arrays are of the size of the points, 0 for none. How many are left, and skipped."""

def cloud_distance_on_device(
    first: DeviceRows, second: DeviceRows, arrays: Sequence[int], progress: _Progress, **options: Any
) -> tuple[dict[str, Any], dict[str, Any] | None, float, float, float]:
    """Arrays are distances (float64) and nearest points (uint32), there and back; 0 for none."""

def outliers_on_device(
    points: DeviceRows, flags: int, kept: int, values: int, progress: _Progress, **options: Any
) -> tuple[int, float, float, float, int]:
    """How many are kept, mean, deviation, threshold, and how many are skipped."""

def register_clouds(
    source: _Rows, target: _Rows, progress: _Progress, **options: Any
) -> dict[str, Any]:
    """kith::apps::register_clouds; options by their names, `initial_pose` as 16 numbers."""

def register_on_device(
    source: DeviceRows, target: DeviceRows, stream: int, progress: _Progress, **options: Any
) -> dict[str, Any]:
    """kith::apps::register_on_device, for arrays on one GPU."""

def register_pairs(
    sources: list[Any],  # NumPy arrays or DeviceRows
    targets: list[Any],
    starts: Sequence[Sequence[float] | None],  # 16 numbers for each pair that has its own
    stream: int,
    progress: _Progress,
    **options: Any,
) -> list[dict[str, Any]]:
    """kith::apps::register_pairs."""

class RegistrationTarget:
    """kith::apps::RegistrationTarget."""

    def __init__(self, points: _Rows, progress: _Progress, **options: Any) -> None: ...
    def align(self, source: _Rows, progress: _Progress, **options: Any) -> dict[str, Any]: ...
    def align_target(self, source: RegistrationTarget, progress: _Progress, **options: Any) -> dict[str, Any]: ...
    @property
    def rows(self) -> int: ...
    @property
    def dims(self) -> int: ...
    @property
    def dtype(self) -> str: ...

def read_pose(path: str) -> list[float]: ...
def write_pose(path: str, pose: Sequence[float]) -> None: ...
def winning_classes(
    codes: _Int64,  # the class of each point, below `classes`
    classes: int,
    neighbors: _Int64,  # numbers of points, queries x k
    weights: npt.NDArray[np.float64] | None,  # of their votes; None: each counts 1
    *,
    ties: str = "lowest",
    threads: int = 0,
) -> _Int64:
    """For each query the class with the most weight, of several as `ties` says."""

# Objects without coordinates. The indices below are like Index; their searches take exclude_self,
# earlier_only, max_neighbors, max_distance, eps, allowed, threads and progress, and one radius for
# all queries. Distances are float32.

class BitRows:
    """Rows of bits, packed as numpy.packbits does it; keeps the array alive."""

    def __init__(self, array: npt.NDArray[np.uint8], bits: int) -> None: ...

class Sequences:
    """Strings, sets or lists of numbers."""

    @staticmethod
    def make(objects: list[Any], kind: str, what: str) -> Sequences:
        """kind: text (of str), bytes, sets or numbers; `what` names the argument in errors."""

    @property
    def size(self) -> int: ...

class BitIndex(_AnyIndex):
    @staticmethod
    def build(
        rows: BitRows,
        *,
        engine: str = "auto",  # auto, brute, covertree
        device: str = "auto",
        leaf_size: int = 0,
        expected_queries: int = 0,
        threads: int = 0,
        progress: _Progress = None,
    ) -> BitIndex: ...
    def packed_rows(self) -> npt.NDArray[np.uint8]: ...
    @property
    def bits(self) -> int: ...

class SequenceIndex(_AnyIndex):
    @staticmethod
    def build(
        sequences: Sequences, metric: str,  # edit, hamming, jaccard
        *, engine: str = "auto", device: str = "auto", leaf_size: int = 0,
        expected_queries: int = 0, threads: int = 0, progress: _Progress = None,
    ) -> SequenceIndex: ...
    def objects(self) -> list[Any]: ...
    @property
    def kind(self) -> str: ...

def index_content(path: str) -> str:
    """What an index file holds: points, bits or sequences."""

def bytes_content(content: bytes | memoryview) -> str:
    """The same of what to_bytes gave."""

def read_sequences(
    path: str,
    *,
    format: str = "auto",
    kind: str = "text",
    text_column: str = "",
    shingle: int = 0,
    words: bool = False,
    progress: _Progress = None,
) -> tuple[list[Any], list[str], str, list[str], list[Any]]:
    """Sequences, names, format, notes, the strings that sets were made of."""

class MetricTree:
    """kith::CoverTree of objects of Python. Holds the GIL. RuntimeError if it changes while in use,
    by another thread or by the metric itself."""

    def __init__(
        self, function: Callable[[Any, Any], Any], rounding: tuple[float, float] | None = None
    ) -> None: ...
    def insert(self, object: Any) -> int: ...
    def insert_as(self, object: Any, number: int) -> int: ...
    def number_from(self, number: int) -> None: ...
    def copy(self) -> MetricTree: ...
    def remove(self, number: int) -> bool: ...

    # `but`: for each query the number of an object that it must not find, or None.
    def knn(
        self, queries: tuple[Any, ...], k: int, eps: float, max_distance: float, but: _Int64 | None
    ) -> tuple[npt.NDArray[np.float64], _Int64]: ...
    def radius(
        self,
        queries: tuple[Any, ...],
        radii: npt.NDArray[np.float64],
        max_neighbors: int,
        but: _Int64 | None,
    ) -> tuple[npt.NDArray[np.float64], _Int64, _Int64]: ...
    def count(self, queries: tuple[Any, ...], radii: npt.NDArray[np.float64]) -> _Int64: ...
    def numbers(self) -> _Int64: ...
    def object(self, number: int) -> Any: ...
    def first_violation(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def next(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def function(self) -> Callable[[Any, Any], Any]: ...
    @property
    def rounding(self) -> tuple[float, float]: ...

def export_tree(
    points: _Rows, layout: str, device: str, *, split: str, middle: str, unique: bool,
    skip_nonfinite: bool, threads: int, progress: _Progress,
) -> tuple[tuple[Any, ...], int]:
    """kith::apps::export_node_table: (point, split_dim, less, greater) and the root; for the layout
    "inorder" export_in_order: (index, points, split_dim) and 0."""

def export_tree_on_device(
    points: DeviceRows, point: int, split_dim: int, less: int, greater: int, coordinates: int,
    stream: int, *, split: str, middle: str, unique: bool, skip_nonfinite: bool, threads: int,
    progress: _Progress,
) -> tuple[int, int]:
    """The same for addresses on a GPU, 0 for none, of uint32, one per point; `coordinates` are of the
    points' type. How many nodes there are, and the root."""

# Shards, for transports that are written in Python: messages are bytes.

def point_facts(
    points: _Rows, first_number: int, rules: dict[str, Any], threads: int = 0
) -> bytes: ...
def joined_facts(parts: list[bytes]) -> bytes:
    """Raises what is wrong with any of the points."""
def describe_facts(facts: bytes) -> tuple[str, int, int, int]:
    """(dtype, dims, rows, rows that are searched)."""
def shard_map(facts: bytes, rules: dict[str, Any], shards: list[bytes]) -> bytes: ...

class CutPlan:
    @staticmethod
    def of(facts: bytes, rules: dict[str, Any]) -> CutPlan: ...
    @staticmethod
    def from_bytes(content: bytes) -> CutPlan: ...
    def to_bytes(self) -> bytes: ...
    def take(self, sums: npt.NDArray[np.uint64]) -> None: ...
    @property
    def is_done(self) -> bool: ...

class ChunkCutter:
    def __init__(
        self, points: _Rows, first_number: int, rules: dict[str, Any], threads: int = 0
    ) -> None: ...
    def counts(self, plan: CutPlan) -> _Int64: ...
    def points(self, plan: CutPlan) -> list[bytes]:
        """A message for each shard."""

class Shard:
    @staticmethod
    def build(
        parts: list[bytes], rules: dict[str, Any], *, engine: str = "auto", device: str = "auto",
        leaf_size: int = 0, threads: int = 0,
    ) -> Shard: ...
    def facts(self) -> bytes: ...
    def points_message(self, threads: int = 0) -> bytes: ...
    def answer(
        self, request: bytes, allowed: npt.NDArray[np.uint64] | None = None, threads: int = 0
    ) -> bytes: ...
    def numbers(self) -> _Int64: ...
    def explain(self) -> str: ...
    @property
    def memory_bytes(self) -> int: ...
    def __len__(self) -> int: ...

class _Shards:
    def knn(
        self, queries: _Rows | None, k: int, options: dict[str, Any], progress: Any = None
    ) -> tuple[_Distances, _Int64]: ...
    def radius(
        self, queries: _Rows | None, radii: npt.NDArray[np.float64], options: dict[str, Any],
        progress: Any = None,
    ) -> tuple[_Distances, _Int64, _Int64]: ...
    def count(
        self, queries: _Rows | None, radii: npt.NDArray[np.float64], options: dict[str, Any],
        progress: Any = None,
    ) -> _Int64: ...
    def explain(self) -> str: ...
    def __len__(self) -> int: ...
    @property
    def metric(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def dims(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    @property
    def shards(self) -> int: ...

class ShardedIndex(_Shards):
    @staticmethod
    def build(
        points: _Rows, *, shards: int, devices: list[str], options: dict[str, Any],
        progress: Any = None,
    ) -> ShardedIndex: ...
    @property
    def devices(self) -> list[str]: ...
    @property
    def memory_bytes(self) -> int: ...

class StoredShards(_Shards):
    @staticmethod
    def build(
        files: list[str], folder: str, *, shards: int, memory: int, options: dict[str, Any],
        note: Any, progress: Any = None,
    ) -> StoredShards: ...
    @staticmethod
    def open(folder: str, *, memory: int, threads: int) -> StoredShards: ...
    @property
    def folder(self) -> str: ...
    @property
    def file_bytes(self) -> int: ...

class QuerySearch:
    """The queries of a chunk, or the points of the shard with this number, round by round."""

    def __init__(
        self, map: bytes, kind: str, queries: _Rows | Shard, *, number: int = 0, k: int = 0,
        radii: npt.NDArray[np.float64] | None = None, options: dict[str, Any],
    ) -> None: ...
    def next(self) -> dict[int, bytes]: ...
    def take(self, reply: bytes) -> None: ...
    def result(self) -> tuple[Any, ...]:
        """(distances, numbers), with offsets for lists; (counts,)."""

"""The recipe of docs/python/dask.md for Spark, where pyspark and Java are installed."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest

import kith

pytest.importorskip("pyspark")
pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


@pytest.fixture
def spark(monkeypatch):
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_a_saved_index_answers_batches(spark, rng, tmp_path):
    points, queries = rng.random((5000, 3)), rng.random((700, 3))
    path = str(tmp_path / "points.kith")
    kith.Index(points).save(path)

    def nearest(batches):
        index = kith.Index.load(path, map=True)
        for batch in batches:
            rows = np.column_stack([batch["x"], batch["y"], batch["z"]])
            distances, indices = index.knn(rows, k=1, threads=1)
            yield pa.RecordBatch.from_arrays(
                [batch["id"], pa.array(indices[:, 0]), pa.array(distances[:, 0])],
                ["id", "nearest", "distance"],
            )

    rows = pandas.DataFrame(queries, columns=list("xyz")).assign(id=np.arange(len(queries)))
    frame = spark.createDataFrame(rows).repartition(5)
    schema = "id long, nearest long, distance double"
    found = frame.mapInArrow(nearest, schema).toPandas().sort_values("id")
    distances, indices = kith.Index(points).knn(queries, k=1)
    np.testing.assert_array_equal(found["nearest"], indices[:, 0])
    np.testing.assert_array_equal(found["distance"], distances[:, 0])

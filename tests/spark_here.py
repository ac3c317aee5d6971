"""A local Spark for the tests, where pyspark and a Java to run it are there; else they are skipped."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import pytest


def spark_session() -> Any:
    """The session of this process."""
    pytest.importorskip("pyspark", reason="pyspark is not installed (the extra 'spark')")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java, and there is none (Debian: default-jre-headless)")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }
    made = SparkSession.builder.master("local[2]").appName("tests").config(map=settings).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made

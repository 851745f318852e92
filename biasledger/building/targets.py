"""The targets of profiles.yml, and the requirements of one on Spark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biasledger.project import check_project
from biasledger.spark.masters import ACTIVE, is_connect
from collector.errors import InputError
from collector.hints import did_you_mean, ended

_SPARK = "sparksession"
_NEEDED = ("pyspark", "pyarrow")


def runs_on_spark(project: Path, target: str | None) -> bool:
    """Return whether a build for a target of the project's profiles.yml runs on Spark; None means the default target, as in dbt.

    Raises:
        InputError: there is no project or no such target, or it runs on Spark and that cannot be started here.
    """
    check_project(project)
    profile = _profile(project)
    target = target or _rendered(profile.get("target", "default"))
    outputs = profile.get("outputs", {})
    if target not in outputs:
        hint = did_you_mean(target, sorted(outputs))
        raise InputError(
            f"profiles.yml has no target {target!r}{ended(hint)} "
            "The profiles.yml of a new project (`biasledger init DIR`) has one called spark to copy."
        )
    if outputs[target].get("type") != _SPARK:
        return False
    if any(find_spec(name) is None for name in _NEEDED):
        raise InputError("A build on Spark needs what is not installed: pip install 'biasledger[spark]'.")
    master = _rendered(outputs[target].get("master"))
    if master == ACTIVE:
        raise InputError(
            f"`biasledger build` runs dbt as a process of its own, which has no session of Spark, and master is {ACTIVE}: "
            "have dbt build in the process that has one (docs/scale.md), or name where Spark runs."
        )
    if is_connect(master):
        if find_spec("grpc_status") is None:
            raise InputError("Spark Connect needs what is not installed: pip install 'pyspark[connect]'.")
        return True
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise InputError(
            "Spark needs Java 17 or newer, and there is none: install it, or name its folder in JAVA_HOME."
        )
    return True


def _profile(project: Path) -> Mapping[str, Any]:
    from collector.files.yaml import read_yaml_mapping

    name = read_yaml_mapping(project / "dbt_project.yml", what="a dbt project").get("profile")
    profile = read_yaml_mapping(project / "profiles.yml", what="a dbt profile").get(_rendered(name))
    if not isinstance(profile, dict):
        raise InputError(f"profiles.yml has no profile {name!r}, which dbt_project.yml goes by.")
    return profile


def _rendered(text: object) -> str:
    """Return a name in which dbt puts environment variables."""
    from jinja2 import Environment

    def env_var(name: str, default: str = "") -> str:
        return os.environ.get(name, default)

    return Environment(autoescape=False).from_string(str(text)).render(env_var=env_var)  # noqa: S701 (no page)

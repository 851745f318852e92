"""Where the dbt project and the starter files lie, and the thin project laid out around them.

The models are not part of a user's project: links in `.biasledger/packages` point dbt at the installed ones, so that
an upgrade reaches everyone. In a wheel they lie inside the package, in a checkout at its root.
"""

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from collector.errors import BiasledgerError, InputError

_PACKAGE = Path(__file__).resolve().parent
LINKS = Path(".biasledger/packages/biasledger")
# The parts of the installed dbt project that a thin project links to, next to its seeds.
LINKED = ("dbt_project.yml", "models", "macros", "analyses", "tests/dbt")
# The one audit of a new project, and the schema that editors check audits by.
FIRST_AUDIT = ("audits/products.yml", "audits/audit.schema.json")
PRESETS = {
    "chatbot": (
        "audits/chatbot.yml",
        "audits/stereotypes.yml",
        "audits/stereotypes/*",
        "audits/audit.schema.json",
    )
}
# The audits of a language, which share the subjects of the English ones.
LANGUAGES, SUBJECTS = "audits/languages", "audits/recommendations/entities.csv"
# Seeds that are the user's own to edit.
SETTINGS = ("thresholds.csv", "output_thresholds.csv", "exceptions.csv", "tolerances.csv", "model_prices.csv")


def dbt_source() -> Path:
    """The folder of the installed dbt project: inside the package in a wheel, the root of a checkout.

    Raises:
        BiasledgerError: the installation holds no dbt project.
    """
    return _installed(_PACKAGE / "_dbt" / "biasledger", "dbt_project.yml")


def dbt_variables() -> Mapping[str, Any]:
    """The variables of the installed dbt project."""
    return _variables(dbt_source() / "dbt_project.yml")


@cache
def _variables(path: Path) -> Mapping[str, Any]:
    import yaml

    variables: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8")).get("vars", {})
    return variables


def settings_file(name: str, directory: Path = Path()) -> Path:
    """The seed of one of the settings that holds in a folder: its own where it has one, or else the installed one.

    Raises:
        BiasledgerError: the installation holds no dbt project.
    """
    own = directory / "seeds" / name
    return own if own.is_file() else dbt_source() / "seeds" / name


def starter_source() -> Path:
    """The folder that holds the starter `audits/` and `targets.yml`.

    Raises:
        BiasledgerError: the installation holds no starter files.
    """
    return _installed(_PACKAGE / "_starter", "targets.yml")


def docs_source() -> Path:
    """The folder that holds the documentation's pages.

    Raises:
        BiasledgerError: the installation holds none.
    """
    return _installed(_PACKAGE / "_documents", "docs/methods.md") / "docs"


def _installed(in_wheel: Path, sign: str) -> Path:
    for folder in (in_wheel, _PACKAGE.parent):
        if (folder / sign).is_file():
            return folder
    raise BiasledgerError(
        f"This installation is incomplete, {in_wheel / sign} is missing: install biasledger again."
    )


def init_project(
    directory: Path, *, every_audit: bool = True, preset: str | None = None, languages: Collection[str] = ()
) -> tuple[list[Path], list[Path]]:
    """Lay out a thin project around the files that are there; nothing that exists is overwritten.

    Args:
        directory: its folder, made if absent.
        every_audit: whether all shipped audits are laid out, with the files they name, or only the first one.
        preset: a key of PRESETS, whose audits are laid out, whatever `every_audit` says.
        languages: codes of languages whose audits are laid out, too.

    Returns:
        The files written, and those that were there and were kept; both relative to `directory` and sorted.

    Raises:
        InputError: `directory` is a file, or holds a dbt project or a file where a folder is needed, or no audits are in a
            language; nothing was changed.
    """
    shipped = sorted(path.name for path in (starter_source() / LANGUAGES).iterdir())
    if unknown := [one for one in languages if one not in shipped]:
        raise InputError(
            f"No audits ship in the language {unknown[0]!r}; there are {', '.join(shipped)}, and English."
        )
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory} is a file: name a folder, new or without a biasledger project.")
    audits = PRESETS[preset] if preset else FIRST_AUDIT
    if languages:
        audits = (*audits, SUBJECTS, *(f"{LANGUAGES}/{one}/*" for one in languages))
    plan = _starter_files(None if every_audit and not preset else audits)
    present = sorted(name for name in plan if os.path.lexists(directory / name))
    if of_dbt := [str(name) for name in present if str(name) in {"dbt_project.yml", "profiles.yml"}]:
        raise InputError(
            f"{directory} already holds {', '.join(of_dbt)}: nothing was changed; choose another folder."
        )
    folders = {LINKS, *LINKS.parents, *(folder for name in plan for folder in name.parents)}
    blocked = [
        str(folder)
        for folder in sorted(folders)
        if os.path.lexists(directory / folder) and not (directory / folder).is_dir()
    ]
    if blocked:
        raise InputError(
            f"{directory} holds a file {blocked[0]}, where a folder is needed: nothing was changed."
        )
    written = sorted(plan.keys() - set(present))
    for name in written:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(plan[name], directory / name)
    link_package(directory)
    return written, present


def _starter_files(audits: Sequence[str] | None) -> dict[Path, Path]:
    """Path in the new project -> the file it is copied from; audits: patterns of their paths, None for all."""
    skeleton, models, starter = _PACKAGE / "skeleton", dbt_source(), starter_source()
    files = {
        Path("dbt_project.yml"): skeleton / "dbt_project.yml",
        Path("README.md"): skeleton / "README.md",
        Path(".gitignore"): skeleton / "gitignore",
        Path("profiles.yml"): models / "profiles.yml",
        Path("targets.yml"): starter / "targets.yml",
    }
    for name in SETTINGS:
        files[Path("seeds") / name] = models / "seeds" / name
    # Word lists of others come with their licence (txt), specs with their schema (json).
    for kind in ("*.yml", "*.csv", "*.txt", "*.json"):
        for audit in sorted((starter / "audits").rglob(kind)):
            if audits is None or any(audit.relative_to(starter).match(pattern) for pattern in audits):
                files[audit.relative_to(starter)] = audit
    return files


def check_project(directory: Path) -> None:
    """Check that `directory` is a dbt project.

    Raises:
        InputError: there is no `dbt_project.yml`.
    """
    if not (directory / "dbt_project.yml").is_file():
        raise InputError(
            "There is no dbt_project.yml in this folder: go to your project's folder, or make this folder one with "
            "`biasledger init .`."
        )


def require_project(directory: Path) -> None:
    """Check that `directory` is a dbt project and renew its links to the installed models.

    Raises:
        InputError: there is no `dbt_project.yml`.
    """
    check_project(directory)
    if not directory.samefile(dbt_source()):
        link_package(directory)


def link_package(directory: Path) -> None:
    """Recreate `.biasledger/packages/biasledger`: the installed dbt project with this project's own settings.

    The settings are linked in as if they were the package's seeds, rather than overriding these by dbt's means: a seed
    of the root project would lose the column types and the schema that the package configures.
    """
    source, links = dbt_source(), directory / LINKS
    if links.is_symlink() or links.is_file():
        links.unlink()
    elif links.exists():
        shutil.rmtree(links)
    for part in LINKED:
        _link(source / part, links / part)
    for seed in sorted((source / "seeds").iterdir()):
        own = directory / "seeds" / seed.name
        _link(own if seed.name in SETTINGS and own.is_file() else seed, links / "seeds" / seed.name)


def _link(source: Path, destination: Path) -> None:
    """Link, or copy where the system allows no links; `biasledger build` then renews the copy."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    try:
        destination.symlink_to(source.resolve(), target_is_directory=source.is_dir())
    except (OSError, NotImplementedError):  # the latter where the system has no links at all
        if source.is_dir():
            shutil.copytree(source, destination, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, destination)

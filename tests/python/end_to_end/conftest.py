"""Projects in temporary folders: init, collect or import, build, read the warehouse.

A build costs far more than what is built, so that whatever tests only read is planted in one of a few projects of the session.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from biasledger.project import init_project
from tests.python.conftest import FirstAudit
from tests.python.project import Project

from .planting import (
    advice,
    applicants,
    bad_input,
    customers,
    echoes,
    failures,
    languages,
    lists,
    marker_lists,
    menu,
    model_change,
    odd_decisions,
    odd_lists,
    odd_prices,
    own_prompts,
    texts,
    unknown_groups,
    unread,
)


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Project]:
    def make() -> Project:
        folder = tmp_path_factory.mktemp("project")
        init_project(folder)
        return Project(folder)

    return make


@pytest.fixture(scope="session")
def planted(first_audit: FirstAudit) -> Project:
    """The README's audit: 240 answers of the simulator, which steers by race and leaves gender alone."""
    return Project(first_audit.folder)


@pytest.fixture(scope="session")
def shipped(audited: Path) -> Project:
    """The shipped audits, asked of the simulated models with and without planted bias. To be read only."""
    return Project(audited)


@pytest.fixture(scope="session")
def odd(new_project: Callable[[], Project]) -> Project:
    """Audits of every kind that are put together unlike the shipped ones; see `planting`. To be read only."""
    project = new_project()
    for subject in (
        advice,
        applicants,
        bad_input,
        customers,
        echoes,
        failures,
        languages,
        lists,
        marker_lists,
        menu,
        model_change,
        odd_decisions,
        odd_lists,
        odd_prices,
        own_prompts,
        texts,
        unknown_groups,
        unread,
    ):
        subject.plant(project)
    texts.plant_shuffled(project)
    project.build()
    return project


@pytest.fixture(scope="session")
def alone(new_project: Callable[[], Project]) -> Project:
    """One run of `odd` in a project of its own that publishes texts, built with one thread. To be read only."""
    project = new_project()
    with (project.folder / "dbt_project.yml").open("a", encoding="utf-8") as settings:
        settings.write("\nvars: {biasledger: {publish_texts: true}}\n")
    texts.plant(project)
    project.build(threads=1)
    return project

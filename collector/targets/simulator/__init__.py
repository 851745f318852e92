"""A simulated model with a planted bias of known size, or none, for every kind of audit."""

from __future__ import annotations

from collector.targets.simulator.target import KIND, Settings, build

__all__ = ["KIND", "Settings", "build"]

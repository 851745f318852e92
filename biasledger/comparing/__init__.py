"""Runs next to each other: which run is the baseline, what it takes along to another machine, what changed since."""

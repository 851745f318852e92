"""Statistics that all measures use: permutations, intervals, jackknives, strata, chance."""

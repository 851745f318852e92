"""What every measure stands on: permutations, intervals, jackknives, strata, chance."""

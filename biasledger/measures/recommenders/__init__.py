"""Measures of a recommender by held-out texts: Table 3 of LMRec's source."""

"""From a text to a score for each venue: the encoders that a recommender can be trained with."""

PLACEHOLDER = "restaurantname"
"""Stands in a text for a name that was masked."""

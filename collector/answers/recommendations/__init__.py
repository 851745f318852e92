"""Recommendations in replies: lists of titles, and items with prices and categories."""

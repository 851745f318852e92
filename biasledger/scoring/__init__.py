"""Scores of answers by classifiers, next to the answers in the ledger."""

"""Scores of answers by classifiers, beside the answers in the ledger."""

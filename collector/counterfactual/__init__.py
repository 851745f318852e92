"""Counterfactuals of real prompts: find words that state who a person is, and write an audit that swaps them."""

"""biasledger: a bias-audit warehouse for language models."""

__version__ = "0.1.0"

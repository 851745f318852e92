"""Two runs brought to equal sizes."""

"""Reading and writing files that somebody else may have made, or that must be whole when a call returns."""

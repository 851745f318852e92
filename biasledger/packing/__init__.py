"""The evidence pack: one zip about one run, for an outside reviewer."""

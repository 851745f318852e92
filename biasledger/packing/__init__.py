"""The evidence pack: one zip about one run, for somebody who was not there."""

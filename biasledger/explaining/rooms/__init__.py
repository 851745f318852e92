"""Which rows and answers stand behind a finding, one module a room: `evidence` of a case."""

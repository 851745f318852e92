"""Which rows and answers stand behind a finding, one module a method: `evidence` of a case."""

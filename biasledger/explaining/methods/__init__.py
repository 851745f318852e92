"""The rows and answers that are the evidence for a finding, one module a method: `evidence` of a case."""

"""Whether the current runs pass: cases with reasons, in sentences for people and in formats for pipelines."""

"""The specification of an audit: the spec file, the lists next to it, and the prompts made from both."""

"""What an audit asks, of whom and how it is read: the spec file, the lists next to it, and the prompts that come of both."""

"""The questions, cost and power of an audit, before it is collected."""

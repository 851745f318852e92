"""What an audit would ask, cost and show, before it is collected."""

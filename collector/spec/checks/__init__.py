"""What a spec must say beyond the types of its keys."""

"""What an answer says: its status, and the words, items, ranks, decisions or price levels in it."""

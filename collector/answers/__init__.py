"""Reading answers: their status, and the words, items, ranks, decisions or price levels in them."""

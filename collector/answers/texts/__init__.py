"""What reading a text rests on: its plain form, JSON in it, and what each language calls things."""

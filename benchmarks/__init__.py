"""How fast the words path is against a plain script, and how often alarms are wrong: of texts, of lists and of decisions."""

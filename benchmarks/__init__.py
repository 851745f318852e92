"""How fast a build of words is against a plain script, and how often alarms are wrong: of texts, of lists and of decisions."""

"""How fast the words path is against a plain script, and how often its alarms are wrong on texts without a difference."""

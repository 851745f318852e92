{{ unaccepted_alarms("words", "warn") }}

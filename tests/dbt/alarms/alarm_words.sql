{{ unaccepted_alarms("words", "error") }}

{{ unaccepted_alarms("texts", "warn") }}

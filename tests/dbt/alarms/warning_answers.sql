{{ unaccepted_alarms("answers", "warn") }}

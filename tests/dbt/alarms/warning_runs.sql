{{ unaccepted_alarms("runs", "warn") }}

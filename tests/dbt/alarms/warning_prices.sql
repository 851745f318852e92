{{ unaccepted_alarms("prices", "warn") }}

{{ unaccepted_alarms("lists", "warn") }}

{{ unaccepted_alarms("decisions", "warn") }}

{{ unaccepted_alarms("prices", "error") }}

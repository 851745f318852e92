{{ unaccepted_alarms("runs", "error") }}

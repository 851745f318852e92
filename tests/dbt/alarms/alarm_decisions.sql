{{ unaccepted_alarms("decisions", "error") }}

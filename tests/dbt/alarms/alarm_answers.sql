{{ unaccepted_alarms("answers", "error") }}

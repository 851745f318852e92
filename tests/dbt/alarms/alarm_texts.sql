{{ unaccepted_alarms("texts", "error") }}

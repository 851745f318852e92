{{ unaccepted_alarms("lists", "error") }}

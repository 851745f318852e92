{{ unaccepted_alarms("markers", "warn") }}

{{ unaccepted_alarms("markers", "error") }}

"""The pictures of a run, one module a room: `pictures` of the open warehouse and a run, empty where the room has none of it."""

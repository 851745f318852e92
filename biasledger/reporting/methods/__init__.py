"""The pictures of a run, one module a method: `pictures` of the open warehouse and a run, empty where the method has none of it."""

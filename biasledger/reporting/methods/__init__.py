"""The pictures of a run, one module a method: `pictures` returns those of a run of the open warehouse."""

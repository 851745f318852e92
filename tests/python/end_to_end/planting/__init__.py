"""The project that many end-to-end tests read: a module for each subject, with `plant(project)` in each."""

"""What is planted in the project that many tests of whole paths read: a module for each subject, `plant(project)` in each."""

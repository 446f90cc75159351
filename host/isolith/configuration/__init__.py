"""What is connected, and what is allowed: files, specs and variables."""

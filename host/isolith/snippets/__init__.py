"""Scripts that a person has read, as methods of others."""

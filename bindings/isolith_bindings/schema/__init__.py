"""JSON Schema in: validation, and Python types as text out. A schema is hostile until it was read here."""

"""Scripts with what they are expected to come to beside them: `isolith test`, JUnit, pytest."""

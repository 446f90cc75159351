"""What people say about calls before they are made: grants ahead of time, links that decide one call."""

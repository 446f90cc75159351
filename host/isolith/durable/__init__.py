"""What outlives a process: runs that wait, go on, are tried again, are undone."""

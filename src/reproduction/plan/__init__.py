"""What must run, and why."""

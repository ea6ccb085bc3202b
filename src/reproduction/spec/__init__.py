"""What may be written: artifacts, configurations, settings and protocols."""

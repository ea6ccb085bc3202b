"""The forms of what users and papers write: artifacts, configurations, settings and protocols."""

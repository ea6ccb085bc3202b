"""What the workflow calls: artifacts, jobs, methods by name, the files a job depends on, provenance."""

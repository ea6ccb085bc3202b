"""Who calls whom in which order: a protocol turns settings, data and seeds into rows of the tidy table."""

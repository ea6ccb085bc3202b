"""Pages of the site: one per figure and table, overviews, and one with the findings."""

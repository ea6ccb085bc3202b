"""Pages to look at: one per figure and table, one for all of them, one with what was found."""

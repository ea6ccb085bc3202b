"""Protocols on images found by a web search, whose search term is their noisy label."""

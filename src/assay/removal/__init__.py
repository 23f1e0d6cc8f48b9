"""Removal operators: what "take these words away" means. One file per operator."""

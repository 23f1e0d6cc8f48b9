"""One file per model family; a family turns edits into what its network reads, and answers questions."""

"""The contract suite: what every method, test and removal operator must keep, ours and those of plugins."""

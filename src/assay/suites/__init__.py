"""Papers as experiments: one file per paper, each gives an Exhibit with our number beside the published one."""

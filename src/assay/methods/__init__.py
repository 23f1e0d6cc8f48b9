"""Attribution methods: one score per feature of one input. One file per method."""

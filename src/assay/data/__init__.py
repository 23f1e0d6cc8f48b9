"""The room of data sets: one file per set or format; ``grammar.read`` turns what a user writes into a Dataset."""

"""python -m assay: the command line without the installed script."""

from assay.cli import main

main()

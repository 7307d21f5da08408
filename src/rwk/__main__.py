"""`python -m rwk` is the command `rwk`."""

from rwk.cli import main

main()

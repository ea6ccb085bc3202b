"""Run the command `noisylabels` as a module."""

from noisylabels.command_line import main

main()

"""Lets scripts written for kgkit run here unchanged. The code is in the package sandglass."""

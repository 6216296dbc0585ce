"""The version, here because to ask for a package's metadata takes longer than to import most of the package."""

VERSION = "0.1.0"

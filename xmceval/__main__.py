"""``python -m xmceval``: the command line."""

from xmceval.cli import main

if __name__ == "__main__":
    main()

"""`python -m onecopy` is the program."""

import sys

from ._onecopy import run


def main() -> int:
    """Runs the program with the arguments of this process."""
    return run(["onecopy", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

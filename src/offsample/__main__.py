"""`python -m offsample` is the command line."""

from offsample.cli import main

if __name__ == "__main__":
    main()

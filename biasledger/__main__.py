"""`python -m biasledger`: the command line."""

from biasledger.cli import main

if __name__ == "__main__":
    main()

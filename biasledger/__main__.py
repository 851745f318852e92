"""`biasledger` and `python -m biasledger`: the command line."""

import sys


def main() -> None:
    """Run the command; Ctrl-C while its modules are loaded ends it as it does later."""
    try:
        from biasledger.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()

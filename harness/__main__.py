"""The program `clusterlift`, which is `python -m harness`, too."""

import sys


def main() -> int:
    """Load the command line and run it. Loading, too, can be interrupted, or fail in one line."""
    try:
        from harness import cli  # noqa: PLC0415  to be inside the `try`

        return cli.main()
    except KeyboardInterrupt:
        return 130
    except (ImportError, MemoryError) as error:
        sys.exit(f"clusterlift: error: cannot be loaded: {error}")


if __name__ == "__main__":
    sys.exit(main())

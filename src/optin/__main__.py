"""Run the command line as ``python -m optin``."""

from optin.cli import main

if __name__ == "__main__":
    main()

"""Starting: importing optin and asking the command line for help, against importing numpy."""

import subprocess
import sys

from benchmarks.timing import best


def seconds(*arguments):
    return best(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True), repeats=7)


def main():
    numpy = seconds("-c", "import numpy")
    print(f"import optin: {seconds('-c', 'import optin') / numpy:.2f} times import numpy (at most 1.5)")
    print(f"optin --help: {seconds('-m', 'optin', '--help') / numpy:.2f} times import numpy (at most 1.5)")

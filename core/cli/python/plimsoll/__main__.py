"""The command line: `plimsoll report llama-3.1-8b --gpu 4090 --qlora`, or `python -m plimsoll ...`."""

import os
import sys

from plimsoll import command


def main() -> None:
    os.execv(command(), ["plimsoll", *sys.argv[1:]])


if __name__ == "__main__":
    main()

"""The Python package as a wheel, from the command that ./dev release has built:

    python3 core/cli/python/wheel.py build/native/plimsoll_alone build/release

Names, order, times and rights in it are fixed, so that two builds of one commit are the same bytes.
"""

import base64
import hashlib
import os
import pathlib
import platform
import sys
import zipfile

# A program that needs nothing of the machine runs on each of these.
MACHINE = platform.machine()
PLATFORMS = f"manylinux2014_{MACHINE}.musllinux_1_1_{MACHINE}"

# What is linked into the program, under the names of Debian's packages: each comes with its licence.
LINKED = ("libcli11-dev", "libyaml-cpp-dev", "nlohmann-json3-dev", "libstdc++6", "libc6")

root = pathlib.Path(__file__).resolve().parent
project = root.parents[2]
version = (project / "VERSION").read_text().strip()
metadata = f"plimsoll-{version}.dist-info"


def files(command: str) -> dict[str, tuple[bytes, int]]:
    """Name in the wheel: content and rights."""
    sources = {f"plimsoll/{path.name}": path for path in (root / "plimsoll").iterdir() if path.suffix in (".py", ".typed")}
    sources[f"{metadata}/licenses/LICENSE"] = project / "LICENSE"
    for package in LINKED:
        sources[f"{metadata}/licenses/{package}.txt"] = pathlib.Path("/usr/share/doc", package, "copyright")
    held = {name: (path.read_bytes(), 0o644) for name, path in sources.items()}
    held["plimsoll/bin/plimsoll"] = (pathlib.Path(command).read_bytes(), 0o755)
    held[f"{metadata}/entry_points.txt"] = (b"[console_scripts]\nplimsoll = plimsoll.__main__:main\n", 0o644)
    tags = "".join(f"Tag: py3-none-{one}\n" for one in PLATFORMS.split("."))
    held[f"{metadata}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: plimsoll\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644)
    about = f"""Metadata-Version: 2.4
Name: plimsoll
Version: {version}
Summary: Will a fine-tuning run fit on this GPU, and what fills its memory?
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""
    held[f"{metadata}/METADATA"] = (about.encode() + (root / "README.md").read_bytes(), 0o644)
    return held


def record(held: dict[str, tuple[bytes, int]]) -> bytes:
    lines = [f"{metadata}/RECORD,,"]
    for name, (content, _) in held.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return "".join(f"{line}\n" for line in sorted(lines)).encode()


def main(command: str, folder: str) -> None:
    held = files(command)
    held[f"{metadata}/RECORD"] = (record(held), 0o644)
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, f"plimsoll-{version}-py3-none-{PLATFORMS}.whl"), "w") as wheel:
        # What describes the package stands at the end, as the format recommends.
        for name in sorted(held, key=lambda name: (name.startswith(metadata), name)):
            content, rights = held[name]
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = (0o100000 | rights) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content, compresslevel=9)


main(*sys.argv[1:])

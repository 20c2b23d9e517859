"""The Python package as somebody else would have it: built, unpacked, asked what the command line is asked.

    python3 tests/release/wheel_test.py build/native/plimsoll build/native/plimsoll_alone
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

command, alone = sys.argv[1:]
failed = passed = 0


def check(name, good):
    global failed, passed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED  {name}")


def built(folder):
    subprocess.run([sys.executable, "core/cli/python/wheel.py", alone, folder], check=True)
    (path,) = pathlib.Path(folder).glob("*.whl")
    return path


def said(*arguments, text=""):
    return json.loads(subprocess.run([command, *arguments], input=text, capture_output=True, encoding="utf-8").stdout)


with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other, tempfile.TemporaryDirectory() as home:
    wheel = built(one)
    check("two builds are the same bytes", wheel.read_bytes() == built(other).read_bytes())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(home)
        rights = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
        names = archive.namelist()
    check("the program may be run", rights["plimsoll/bin/plimsoll"] == 0o755)
    # As pip does.
    pathlib.Path(home, "plimsoll/bin/plimsoll").chmod(0o755)
    (metadata,) = pathlib.Path(home).glob("*.dist-info")
    listed = [line.split(",")[0] for line in (metadata / "RECORD").read_text().splitlines()]
    check("RECORD lists every file", sorted(listed) == sorted(names))
    version = pathlib.Path("VERSION").read_text().strip()
    check("the package has the core's version", metadata.name == f"plimsoll-{version}.dist-info")

    sys.path.insert(0, home)
    import plimsoll

    requests = [json.loads(path.read_text())["request"] for path in sorted(pathlib.Path("presets/scenarios").glob("*.json"))]
    check("there are scenarios", len(requests) > 4)
    for request in requests:
        check("a report is the command's", plimsoll.report(request) == said("report", "-", text=json.dumps(request)))
    first, second = requests[:2]
    check("plans are there", len(plimsoll.advise(first)["tiers"]) > 4)
    check("a comparison has both", plimsoll.compare(first, second)["ok"])
    refused = plimsoll.report({"model": "mistral-7b-v0.3", "peft": {"r": -1}})
    check("what is wrong is an answer", not refused["ok"] and refused["errors"][0]["pointer"] == "/peft/r")
    check("an error is explained", "2.00 GiB" in plimsoll.diagnose("CUDA out of memory. Tried to allocate 2.00 GiB", first)["summary"])
    file = pathlib.Path(home, "run.yaml")
    file.write_text(plimsoll.export(first, "axolotl"))
    check("what is exported is read back", plimsoll.read(file)["request"]["stack"] == "axolotl")
    ran = subprocess.run([sys.executable, "-m", "plimsoll", "--version"], cwd=home, capture_output=True, encoding="utf-8")
    check("the command line is there", ran.stdout.strip() == version)

    import plimsoll.contract

    check("the answers have types", "memory" in plimsoll.contract.Report.__annotations__)

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

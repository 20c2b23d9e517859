"""What gpu_runs.py saw, beside the requests that it was asked: tests/core/golden/gpu_runs.json.

    python tests/measured/gpu_golden.py tests/core/golden/gpu_runs.json seen.jsonl ... > again.json

Of each run: bytes that its parameters take, the highest allocated of each phase, the highest reserved of all, what the process
took of the device, the median of the seconds of a step from the second on, and whether nothing ran beside it.
"""

import json
import statistics
import sys

PHASES = ("generate", "forward", "backward", "optimizer", "eval")


def compact(seen, alone):
    if "phases" not in seen:
        out_of_memory = seen.get("died", {}).get("type") == "OutOfMemoryError"
        return {"died": seen["died"]} if out_of_memory else None
    highest = {}
    for phase, (allocated, _) in seen["phases"].items():
        name = phase.split(" ")[0]
        if name in PHASES:
            highest[name] = max(highest.get(name, 0), allocated)
    said = {"start": seen["start"], "trainable": seen["trainable"], "allocated": highest,
            "reserved": max(reserved for _, reserved in seen["phases"].values()), "alone": alone}
    said["process"] = seen["device"] if seen.get("process") is None else seen["process"]
    if len(seen["seconds"]) > 1:
        said["seconds"] = statistics.median(seen["seconds"][1:])
    if "least" in seen:
        said["least"] = {key: seen["least"][key] for key in ("died_with", "ran_with")}
    return said


def main(path, answers):
    file = json.load(open(path))
    versions, runs = {}, {}
    for answer in answers:
        lines = [json.loads(line) for line in open(answer)]
        versions.update(lines[0])
        runs.update({run["name"]: run for run in lines[1:]})
    for case in file["cases"]:
        run = runs.get(case["name"])
        seen = run and compact(run["seen"], run.get("alone", True))
        if seen:
            case["seen"] = seen
    file["versions"] = versions
    rows = ",\n".join("    " + json.dumps(case) for case in file["cases"])
    print("{" + "".join(f"\n  {json.dumps(key)}: {json.dumps(file[key])}," for key in file if key != "cases")
          + '\n  "cases": [\n' + rows + "\n  ]\n}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

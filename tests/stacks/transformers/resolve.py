"""What Transformers' Trainer makes of the scripts beside this file, one golden each.

    python resolve.py [--only NAME] [SCRIPTS_FOLDER] OUT_FOLDER

A script that a release refuses gives no golden; the reason is printed. The script
named default becomes a request that holds nothing but the stack.
"""

import argparse
import sys
from pathlib import Path

# Run as a script, this folder would hide the library of the same name.
sys.path[0] = str(Path(__file__).resolve().parents[1])

import scripts


def fields_of(found):
    fields = scripts.argument_fields(found.args)
    if found.args.optim_args:
        fields["/training/optim_args"] = found.args.optim_args
    projected = getattr(found.args, "optim_target_modules", None)
    if projected:
        fields["/training/optim_target_modules"] = projected
    if found.model is not None:
        fields.update(scripts.model_fields(found.model, found.args))
    return fields


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only")
    options.add_argument("folders", type=Path, nargs="+")
    given = options.parse_args()
    own = Path(__file__).resolve().with_name("scripts")
    configs, out = [own, *(folder.resolve() for folder in given.folders)][-2:]
    scripts.fake_gpu()
    versions = scripts.versions()
    versions.pop("trl", None)
    with scripts.stand_ins():
        for path in sorted(configs.glob("*.py")):
            if given.only and path.stem != given.only:
                continue
            found = scripts.run_script(path)
            if found.problem:
                print(f"{path.stem}: {found.problem}")
            if found.args is None or found.refused:
                continue
            golden = {"source": f"transformers {versions['transformers']} Trainer", "versions": versions}
            if path.stem == "default":
                golden["request"] = {"stack": "hf"}
            else:
                golden["text"] = found.text
            golden["fields"] = fields_of(found)
            scripts.write_golden(out / f"{path.stem}.json", golden)


if __name__ == "__main__":
    main()

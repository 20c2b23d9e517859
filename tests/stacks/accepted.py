"""Which keys the argument classes of a release have, and which words these take: read from its source, not run.

    python tests/stacks/accepted.py STACK SITE_PACKAGES OUT.json

SITE_PACKAGES is any folder in which the packages lie: that of an environment, or what
`pip install --no-deps --target FOLDER` put there. What comes out:

    {"packages": {"trl": "1.16.0", ...},
     "commands": {"sft": ["ScriptArguments", "SFTConfig", ...]},       what fills its classes from keys
     "classes": {"ScriptArguments": {"of": "trl/scripts/utils.py",
                                     "bases": [...],                   of which it has the keys too
                                     "keys": {"dataset_name": "any",
                                              "loss_type": ["dft", "nll"],  no other words
                                              "model_init_kwargs": "map",   with any keys below it
                                              "trl": "TRLConfig"}}}}        with those of a class
"""

import ast
import json
import pathlib
import re
import sys

# By stack: its packages, and by command the classes that are filled from keys. A class is named alone, with
# the end of its file where several have that name, or as a call that sets up an argparse parser.
TRL = ["trl", "transformers", "peft", "accelerate"]
TRAINED = {"sft": "SFTConfig", "dpo": "DPOConfig", "kto": "KTOConfig", "grpo": "GRPOConfig", "rloo": "RLOOConfig",
           "reward": "RewardConfig", "orpo": "ORPOConfig", "cpo": "CPOConfig", "ppo": "PPOConfig"}
STACKS = {
    "ms-swift": (["swift", "trl", "transformers"], {
        "sft": ["SftArguments|TrainArguments"], "pt": ["PretrainArguments|SftArguments|TrainArguments"],
        "rlhf": ["RLHFArguments"]}),
    "llamafactory": (["llamafactory", "transformers"], {
        "train": ["ModelArguments", "DataArguments", "TrainingArguments", "FinetuningArguments",
                  "GeneratingArguments"]}),
    "axolotl": (["axolotl", "transformers"], {"train": ["AxolotlInputConfig", "LigerArgs", "CutCrossEntropyArgs"]}),
    "trl": (TRL, {
        **{task: ["ScriptArguments", config, "ModelConfig", "DatasetMixtureConfig"]
           for task, config in TRAINED.items()},
        "launch": ["launch_command_parser"],
        **{f"{task} file": ["ScriptArguments", config, "ModelConfig", "DatasetMixtureConfig"]
           for task, config in TRAINED.items()},
        **{f"{task} call": [config] for task, config in TRAINED.items()},
        "adapters": ["LoraConfig"]}),
    "transformers": (TRL[1:], {
        "call": ["TrainingArguments"], "model": ["PreTrainedModel.from_pretrained", "LlamaConfig"],
        "quantization": ["BitsAndBytesConfig"], "adapters": ["LoraConfig"],
        "file": ["ClusterConfig"]}),
    "torchtune": (["torchtune"], {"recipe": ["recipes"]}),
    "unsloth": (["unsloth"], {
        "model": ["FastLanguageModel.from_pretrained"],
        "adapters": ["FastLlamaModel.get_peft_model", "FastBaseModel.get_peft_model"]}),
}
# Dictionaries whose keys another parser reads.
INNER = {"ClusterConfig": {name: "launch_command_parser" for name in
                           ("fsdp_config", "deepspeed_config", "parallelism_config", "dynamo_config")}}
# Words that a class checks after it was filled.
WORDS = {"optim": "OptimizerNames", "save_strategy": "SaveStrategy", "eval_strategy": "IntervalStrategy"}


class Source:
    """The classes and functions of installed packages, by name."""

    def __init__(self, site, packages):
        self.site = pathlib.Path(site)
        self.texts, self.trees, self.files = {}, {}, {}
        for path in [path for package in packages for path in sorted(self.site.glob(f"{package}/**/*.py"))]:
            file = str(path.relative_to(self.site))
            if file.startswith("transformers/models/") and "/llama/" not in file:
                continue
            self.texts[file] = path.read_text(errors="replace")
            for name in re.findall(r"^\s*(?:class|def) (\w+)", self.texts[file], re.M):
                self.files.setdefault(name, set()).add(file)

    def tree(self, file):
        if file not in self.trees:
            self.trees[file] = ast.parse(self.texts[file])
        return self.trees[file]

    def places(self, name, kind):
        """Files and nodes of that name."""
        return [(file, node) for file in sorted(self.files.get(name, ())) for node in ast.walk(self.tree(file))
                if isinstance(node, kind) and node.name == name]

    def find(self, name, near="", inside=""):
        """The file and node of a name: in the file itself, where it is imported from, or in the shallowest."""
        places = self.places(name, ast.ClassDef)
        places = [place for place in places if place[0].startswith(inside)] or places
        here = [place for place in places if place[0] == near]
        if here or not places:
            return here[0] if here else None
        experimental = lambda file: "experimental" in file or "megatron" in file or "v1/" in file or "ray" in file
        return min(places, key=lambda place: (experimental(place[0]), place[0].count("/"), place[0]))

    def imported(self, name, file):
        """What a name stands for in a file: its own name and the package or folder that it is taken from."""
        for node in ast.walk(self.tree(file)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return alias.name, self.folder(node, file)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                if [target for target in node.targets if isinstance(target, ast.Name) and target.id == name]:
                    other, folder = self.imported(node.value.id, file)
                    if self.find(other, inside=folder):
                        return other, folder
        return name, file.split("/")[0] + "/"

    @staticmethod
    def folder(node, file):
        if node.level == 0:
            return node.module.split(".")[0] + "/"
        above = file.split("/")[:-node.level]
        return "/".join(above + (node.module or "").split(".")).rstrip("/")


def words_of(node):
    """The words of a Literal, or of a union of such; None where anything else is among them."""
    if isinstance(node, ast.Constant) and node.value is None:
        return []
    if isinstance(node, ast.BinOp):
        return joined([words_of(node.left), words_of(node.right)])
    if not isinstance(node, ast.Subscript):
        return None
    name, inner = ast.unparse(node.value).split(".")[-1], node.slice
    items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Literal":
        return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if name == "Annotated":
        return words_of(items[0])
    if name in ("Optional", "Union", "List", "list"):
        return joined([words_of(item) for item in items])
    return None


def joined(lists):
    return None if None in lists else [word for words in lists for word in words]


def kind_of(annotation, default, source, file):
    """ "any", "map", the words that a key takes, or the class that is below it."""
    words = words_of(annotation)
    if words:
        return sorted(set(words))
    if default is not None:
        for key in [k for k in ast.walk(default) if isinstance(k, ast.Dict)]:
            for name, value in zip(key.keys, key.values):
                if isinstance(name, ast.Constant) and name.value == "choices" and isinstance(value, (ast.List, ast.Tuple)):
                    if all(isinstance(item, ast.Constant) for item in value.elts):
                        return [item.value for item in value.elts]
    text = ast.unparse(annotation)
    if re.search(r"\b(dict|Dict|Mapping)\b", text):
        return "map"
    for name in re.findall(r"\b[A-Z]\w+\b", text):
        other, folder = source.imported(name, file)
        place = source.find(other, inside=folder)
        if place and any(ast.unparse(base) in ("BaseModel",) for base in place[1].bases):
            return other
    return "any"


class Reader:
    """Collects classes and, through them, their bases and what is below their keys."""

    def __init__(self, source):
        self.source, self.classes = source, {}

    def add(self, name, near="", inside=""):
        """Adds a class under its name, or under its name and file where another has that name; returns that."""
        if name == "launch_command_parser":
            return self.add_parser(name)
        if name == "recipes":
            return self.add_recipes()
        if "." in name:
            return self.add_method(name)
        place = self.source.find(name, near, inside)
        if place is None:
            return None
        file, node = place
        known = self.classes.get(name)
        if known is not None and known["of"] != file:
            name = f"{name} of {file}"
            known = self.classes.get(name)
        if known is not None:
            return name
        made = self.classes[name] = {"of": file, "bases": [], "keys": {}}
        for base in node.bases:
            other, folder = self.source.imported(ast.unparse(base).split(".")[-1], file)
            found = self.add(other, file if other == ast.unparse(base) else "", folder)
            if found:
                made["bases"].append(found)
        annotated = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
        for item in annotated:
            if "ClassVar" in ast.unparse(item.annotation) or item.target.id.startswith("_"):
                continue
            if item.value is not None and "init=False" in ast.unparse(item.value).replace(" ", ""):
                continue
            kind = kind_of(item.annotation, item.value, self.source, file)
            if item.target.id in WORDS and kind == "any":
                kind = self.enum(WORDS[item.target.id]) or kind
            if item.target.id in INNER.get(name, {}):
                kind = INNER[name][item.target.id]
            made["keys"][item.target.id] = self.add(kind, file) if kind not in ("any", "map") and isinstance(kind, str) else kind
        # utils/schemas/validation.py takes the prefix away first.
        if name == "FSDPConfig" and file.startswith("axolotl/"):
            made["keys"].update({f"fsdp_{key}": kind for key, kind in made["keys"].items()})
        if not annotated:
            self.add_initializer(made, node)
        setters = [ast.unparse(mark) for item in node.body if isinstance(item, ast.FunctionDef)
                   for mark in item.decorator_list]
        made["keys"].update({mark[:-len(".setter")]: "any" for mark in setters if mark.endswith(".setter")})
        return name

    def enum(self, name):
        place = self.source.find(name, inside="transformers/")
        if place is None:
            return None
        return sorted(item.value.value for item in place[1].body
                      if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant))

    def add_initializer(self, made, node):
        """A plain class is filled by its __init__."""
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                made["keys"].update(self.arguments(item))

    @staticmethod
    def arguments(function):
        """What a function takes by name, and what it takes out of its **kwargs."""
        names = [arg.arg for arg in function.args.args + function.args.kwonlyargs if arg.arg not in ("self", "cls")]
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("kwargs.pop", "kwargs.get"):
                names += [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        return {name: "map" if name.endswith("_kwargs") else "any" for name in names}

    def add_method(self, name):
        """A method of the class of that name whose method takes most: others hand on or stand in."""
        owner, method = name.split(".")
        found = [(file, item) for file, node in self.source.places(owner, ast.ClassDef) for item in node.body
                 if isinstance(item, ast.FunctionDef) and item.name == method]
        file, function = max(found, key=lambda place: len(self.arguments(place[1])))
        self.classes[name] = {"of": file, "bases": [], "keys": self.arguments(function)}
        return name

    def add_parser(self, name):
        """The options of an argparse parser."""
        if name not in self.classes:
            file, node = self.source.places(name, ast.FunctionDef)[0]
            made = self.classes[name] = {"of": file, "bases": [], "keys": {}}
            for call in [n for n in ast.walk(node) if isinstance(n, ast.Call)]:
                if ast.unparse(call.func).split(".")[-1] != "add_argument":
                    continue
                choices = [k.value for k in call.keywords if k.arg == "choices" and isinstance(k.value, ast.List)]
                words = [item.value for item in choices[0].elts if isinstance(item, ast.Constant)] if choices else []
                for option in [arg.value for arg in call.args if isinstance(arg, ast.Constant)]:
                    made["keys"][option.lstrip("-")] = words or "any"
        return name

    def add_recipes(self):
        """What torchtune's recipes read of a configuration, and its builders of models."""
        text = "\n".join(path.read_text() for path in sorted(self.source.site.glob("recipes/**/*.py")))
        keys = {key: "map" for key in sorted(set(re.findall(r"cfg(?:\.get\(\s*[\"']|\.)(\w+)", text)) - {"get"})}
        builders = {"of": "torchtune/models", "bases": [], "keys": {"_component_": []}}
        for file in sorted(self.source.texts):
            if not re.match(r"torchtune/models/\w+/_model_builders.py", file):
                continue
            for node in self.source.tree(file).body:
                names = [getattr(node, "name", "")] + [getattr(t, "id", "") for t in getattr(node, "targets", [])]
                place = f"torchtune.models.{file.split('/')[2]}."
                builders["keys"]["_component_"] += [place + name for name in names if name and name[0].islower()]
                if isinstance(node, ast.FunctionDef):
                    builders["keys"].update(self.arguments(node))
        self.classes["builders"] = builders
        keys["model"] = "builders"
        self.classes["recipes"] = {"of": "recipes", "bases": [], "keys": keys}
        return "recipes"


def versions(site, packages):
    found = {}
    for info in sorted(pathlib.Path(site).glob("*.dist-info")):
        name, version = info.name[: -len(".dist-info")].rsplit("-", 1)
        if name.lower().replace("ms_", "") in packages:
            found[name.replace("_", "-")] = version
    return found


def accepted(stack, site):
    packages, commands = STACKS[stack]
    reader = Reader(Source(site, packages))
    made = {}
    for command, alternatives in commands.items():
        inside = packages[0] + "/" if stack in ("ms-swift", "llamafactory") else ""
        found = []
        for names in alternatives:
            known = [name for name in names.split("|") if "." in name or name in reader.source.files or name == "recipes"]
            found.append(reader.add(known[0], inside=inside) if known else None)
        if stack == "trl" and None in found[:3]:
            continue
        found = [name for name in found if name]
        # `trl TASK` runs a script of that name.
        if stack == "trl" and command in TRAINED and f"trl/scripts/{command}.py" not in reader.source.texts:
            continue
        made[command] = found
    return {"packages": versions(site, packages), "commands": made, "classes": dict(sorted(reader.classes.items()))}


if __name__ == "__main__":
    stack, site, out = sys.argv[1:]
    if stack not in STACKS:
        sys.exit(0)
    text = json.dumps(accepted(stack, site), indent=2)
    pathlib.Path(out).write_text(text + "\n")

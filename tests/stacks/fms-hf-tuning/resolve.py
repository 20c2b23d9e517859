"""What fms-hf-tuning makes of commands and JSON files, on a CPU: one golden each.

    python resolve.py [--only NAME] CONFIGS_FOLDER OUT_FOLDER

CONFIGS_FOLDER holds goldens, whose "text" (a command) or "config" (its JSON) is read. The parser and train() of
tuning/sft_trainer.py run, up to the trainer's own train(), on a tiny model (scripts.py).
"""

import argparse
import contextlib
import json
import shlex
import sys
from pathlib import Path
from unittest import mock

sys.path[0] = str(Path(__file__).resolve().parents[1])

import scripts
import transformers
from tuning import sft_trainer

MODEL = "meta-llama/Llama-3.2-1B"
DATA = "trl-lib/Capybara"


class Reached(Exception):
    """Carries the trainer that train() is called on."""


def stop(self, *args, **kwargs):
    raise Reached(self)


@contextlib.contextmanager
def gpu_packages():
    """flash-attn is said to be there; nothing computes with it."""
    said = mock.patch.object(transformers.PreTrainedModel, "_flash_attn_2_can_dispatch", lambda self, *a, **k: True)
    loaded = mock.patch.object(transformers.modeling_utils, "lazy_import_flash_attention", lambda *a, **k: (None, None))
    with said, loaded, mock.patch.object(transformers.Trainer, "train", stop):
        yield


def read(content):
    """The arguments as the parser gives them."""
    parser = sft_trainer.get_parser()
    if "config" in content:
        return sft_trainer.parse_arguments(parser, dict(content["config"], output_dir="out"))
    words = shlex.split(content["text"].replace("\\\n", " "))
    at = next(i for i, word in enumerate(words) if "sft_trainer" in word)
    with mock.patch.object(sys, "argv", ["sft_trainer.py", *words[at + 1:], "--output_dir", "out"]):
        return sft_trainer.parse_arguments(parser)


def trainer_of(content):
    model, data, training, controller, peft, quantization, *plugins, trackers, _ = read(content)
    model.model_name_or_path, data.training_data_path = MODEL, f"{DATA}/train.jsonl"
    data.dataset_text_field = "text"
    if data.validation_data_path:
        data.validation_data_path = data.training_data_path
    for plugin in plugins:
        for name, value in vars(plugin).items():
            if value is not None:
                raise ValueError(f"{name} needs fms-acceleration, which needs a GPU")
    training.trackers, training.report_to = [], "none"
    try:
        sft_trainer.train(model, data, training, peft, quantization, tracker_configs=trackers)
    except Reached as reached:
        return reached.args[0]
    raise RuntimeError("train() made no trainer")


def fields_of(trainer):
    fields = scripts.argument_fields(trainer.args)
    fields.update(scripts.model_fields(trainer.model, trainer.args))
    fields.update({"/task": "sft", "/training/max_length": trainer.args.max_length,
                   "/model_args/use_cache": bool(trainer.model.config.use_cache)})
    if fields["/peft"]:
        config = trainer.model.peft_config["default"]
        fields.update({"/peft/lora_alpha": config.lora_alpha, "/peft/lora_dropout": config.lora_dropout})
    return fields


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="")
    options.add_argument("configs", type=Path)
    options.add_argument("out", type=Path)
    given = options.parse_args()
    configs, out = given.configs.resolve(), given.out.resolve()
    scripts.fake_gpu()
    with scripts.stand_ins(), gpu_packages():
        for path in sorted(configs.glob("*.json")):
            if given.only not in path.stem:
                continue
            content = json.loads(path.read_text())
            kept = {key: content[key] for key in ("text", "config") if key in content}
            try:
                fields = fields_of(trainer_of(kept))
            except (Exception, SystemExit) as problem:  # what it refuses
                print(f"{path.stem}: {type(problem).__name__}: {str(problem)[:200]}")
                continue
            golden = {"source": "fms-hf-tuning 3.2.2, drawn here", "versions": scripts.versions(), **kept}
            scripts.write_golden(out / path.name, {**golden, "fields": fields})


if __name__ == "__main__":
    main()

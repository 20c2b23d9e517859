"""Axolotl's `train` on a drawn run (run.py): load_cfg, load_datasets, ModelLoader, the trainer's builder, all its own."""

import json
import os
import pathlib
import tempfile

import torch
import yaml

import cuda_kernels
from run import do_without, words

os.environ.update(AXOLOTL_DO_NOT_TRACK="1")
do_without("wandb")
SAMPLES = 16


def samples(run, folder):
    """Plain text; packed runs have shorter pieces."""
    length = run["length"] // 2 if run.get("packed") else run["length"] - 2
    file = pathlib.Path(folder).parent / "text.jsonl"
    file.write_text("".join(json.dumps({"text": words(length, 3 * i)}) + "\n" for i in range(SAMPLES)))
    return str(file)


def run_on_cpu():
    """No key says it; what a configuration asks for is held against the GPU that there is."""
    from transformers import TrainingArguments

    torch.cuda.is_bf16_supported = lambda *args, **kwargs: True
    check = TrainingArguments.__post_init__

    def checked(args):
        args.use_cpu = True
        check(args)

    TrainingArguments.__post_init__ = checked


def run(run, folder):
    run_on_cpu()
    cuda_kernels.stand_in_for_axolotl()
    from axolotl.cli.args import TrainerCliArgs
    from axolotl.cli.config import load_cfg
    from axolotl.cli.train import do_train

    here = {
        "base_model": folder, "datasets": [{"path": samples(run, folder), "ds_type": "json", "type": "completion"}],
        "output_dir": tempfile.mkdtemp(), "dataset_prepared_path": tempfile.mkdtemp(), "max_steps": 2, "save_strategy": "no",
        "saves_per_epoch": None, "special_tokens": {"pad_token": "<pad>"}, "dataset_processes": 1, "dataset_num_proc": 1,
        "dataloader_num_workers": 0, "dataloader_pin_memory": False, "learning_rate": 1e-4, "num_epochs": 1,
    }
    config = {"base_model": "tiny", "learning_rate": 1e-4, "num_epochs": 1, "max_steps": 2, **run["config"]}
    file = pathlib.Path(folder).parent / "config.yml"
    file.write_text(yaml.safe_dump({**here, **run["config"]}))
    cfg = load_cfg(str(file))
    do_train(cfg, TrainerCliArgs())
    return {"stack": "axolotl"}, config

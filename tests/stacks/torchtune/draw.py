"""Configurations of our own that draw torchtune's keys, for resolve.py: what no published file says.

    python tests/stacks/torchtune/draw.py COUNT OUT_FOLDER [SEED]

Builders are those that the installed release has. Every key that decides about memory is drawn, on and off.
"""

import importlib
import pathlib
import pkgutil
import random
import sys

import resolve  # noqa: F401: stands in for torchvision before torchtune is imported
import torchtune.models as families
import torchtune.modules.loss as losses
import yaml

ATTENTION = ["q_proj", "k_proj", "v_proj", "output_proj"]
LOSSES = ["torchtune.modules.loss.CEWithChunkedOutputLoss", "torchtune.modules.loss.LinearCrossEntropyLoss",
          "torch.nn.CrossEntropyLoss"]
OPTIMIZERS = [{"_component_": "torch.optim.AdamW", "fused": True}, {"_component_": "torch.optim.AdamW"},
              {"_component_": "bitsandbytes.optim.PagedAdamW8bit"}, {"_component_": "bitsandbytes.optim.AdamW8bit"},
              {"_component_": "bitsandbytes.optim.PagedAdamW"}, {"_component_": "torch.optim.SGD"}]


def builders(adapters):
    """Dotted names of the builders of text models."""
    found = []
    for family in (module.name for module in pkgutil.iter_modules(families.__path__)):
        if "vision" in family or family in ("llama4", "clip", "flux", "t5", "convert_weights", "smol"):
            continue
        module = importlib.import_module("torchtune.models." + family)
        for name, part in vars(module).items():
            if not callable(part) or not name.islower():
                continue
            sized = any(c.isdigit() for c in name.replace(family, "")) or name.endswith("mini")
            plain = sized and not any(word in name for word in ("token", "tie", "reward", "lora", "transform"))
            if plain and not adapters:
                found.append(f"torchtune.models.{family}.{name}")
            if sized and adapters and name.startswith(("lora_", "qlora_")) and "reward" not in name:
                found.append(f"torchtune.models.{family}.{name}")
    return sorted(found)


def draw(dice):
    """One configuration, and the command that starts it."""
    adapters, world = dice.random() < 0.65, dice.choice([1, 1, 1, 2, 8])
    model = {"_component_": dice.choice(builders(adapters))}
    if adapters:
        model.update(lora_attn_modules=dice.sample(ATTENTION, dice.randint(1, 4)),
                     apply_lora_to_mlp=dice.random() < 0.6, lora_rank=dice.choice([4, 8, 16, 64]), lora_alpha=16)
        if dice.random() < 0.5:
            model["lora_dropout"] = dice.choice([0.0, 0.1])
        if dice.random() < 0.25:
            model["use_dora"] = True
    packed = dice.random() < 0.3
    in_backward = not adapters and dice.random() < 0.3
    available = [name for name in LOSSES if "torch.nn" in name or hasattr(losses, name.rsplit(".", 1)[1])]
    config = {
        "model": model,
        "tokenizer": {"_component_": "torchtune.models.llama3.llama3_tokenizer", "path": "/tmp/tokenizer.model",
                      "max_seq_len": dice.choice([512, 2048, 4096]) if packed else dice.choice([None, 1024, 8192])},
        "checkpointer": {"_component_": "torchtune.training.FullModelHFCheckpointer", "model_type": "LLAMA3"},
        "dataset": {"_component_": "torchtune.datasets.alpaca_cleaned_dataset", "packed": packed},
        "seed": None, "shuffle": True, "batch_size": dice.choice([1, 2, 4, 8]), "epochs": 1,
        "max_steps_per_epoch": dice.choice([None, 25]),
        "optimizer": dict(dice.choice(OPTIMIZERS), lr=2e-5),
        "loss": {"_component_": dice.choice(available)},
        "gradient_accumulation_steps": 1 if in_backward else dice.choice([1, 8, 16]),
        "clip_grad_norm": None, "compile": dice.random() < 0.3, "device": "cuda",
        "dtype": dice.choice(["bf16", "bf16", "fp32"]), "resume_from_checkpoint": False, "output_dir": "/tmp/out",
        "log_level": "INFO", "lr_scheduler": None, "profiler": None,
        "metric_logger": {"_component_": "torchtune.training.metric_logging.DiskLogger", "log_dir": "/tmp/out"},
    }
    if not adapters:
        config["optimizer_in_bwd"] = in_backward
    elif dice.random() < 0.3:
        config["optimizer_in_bwd"] = True  # no recipe for adapters reads it
    if dice.random() < 0.8:
        config["enable_activation_checkpointing"] = dice.random() < 0.7
        if config["enable_activation_checkpointing"] and dice.random() < 0.3:
            config["enable_activation_offloading"] = True
    if dice.random() < 0.3 and "Linear" in available[1]:  # validation came with that loss
        config["dataset_val"] = {"_component_": "torchtune.datasets.alpaca_cleaned_dataset"}
        config["run_val_every_n_steps"] = dice.choice([None, 100])
        if dice.random() < 0.5:
            config["batch_size_val"] = dice.choice([1, 4])
    recipe = ("lora_finetune" if adapters else "full_finetune") + ("_distributed" if world > 1 else "_single_device")
    if world > 1 and dice.random() < 0.3:
        config["fsdp_cpu_offload"] = True
    if world > 1 and dice.random() < 0.3:
        config["fsdp_reshard_after_forward"] = False
    processes = f"--nproc_per_node {world} " if world > 1 else ""
    return f"# tune run {processes}{recipe} --config drawn.yaml\n" + yaml.safe_dump(config, sort_keys=False)


def main():
    count, out = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    dice = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    out.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (out / f"drawn_{number:02}.yaml").write_text(draw(dice))


if __name__ == "__main__":
    main()

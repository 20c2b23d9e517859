"""LLaMA-Factory's run_exp on a drawn run (run.py): its parser, data, loader and trainer."""

import json
import os
import pathlib
import tempfile

from run import do_without, words

os.environ.update(DISABLE_VERSION_CHECK="1")
do_without("torchaudio")
SAMPLES = 16


def samples(run, folder):
    stage, kept = run["config"]["stage"], run["length"] // 4
    rest = run["length"] - kept - 2
    rows = []
    for i in range(SAMPLES):
        said = {"instruction": words(kept, i), "input": "", "output": words(rest, 3 * i)}
        if stage in ("rm", "dpo"):
            said.update(chosen=words(rest, 3 * i), rejected=words(rest, 5 * i + 1))
        rows.append({"text": words(run["length"], 3 * i)} if stage == "pt" else said)
    data = pathlib.Path(folder).parent
    (data / "tiny.json").write_text(json.dumps(rows))
    columns = {"prompt": "instruction", "query": "input", "response": "output"}
    if stage in ("rm", "dpo"):
        columns = {"prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected"}
    if stage == "pt":
        columns = {"prompt": "text"}
    info = {"tiny": {"file_name": "tiny.json", "ranking": stage in ("rm", "dpo"), "columns": columns}}
    (data / "dataset_info.json").write_text(json.dumps(info))
    return str(data)


def run(run, folder):
    from llamafactory.hparams import parser
    from llamafactory.train.tuner import run_exp

    parser.is_torch_bf16_gpu_available = lambda: True

    here = {
        "model_name_or_path": folder, "dataset": "tiny", "dataset_dir": samples(run, folder), "template": "empty",
        "output_dir": tempfile.mkdtemp(), "max_steps": 2, "report_to": "none", "save_strategy": "no", "logging_strategy": "no",
        "overwrite_cache": True, "dataloader_pin_memory": False, "use_cpu": True, "seed": 1,
    }
    run_exp({**here, **run["config"]})
    config = {"model_name_or_path": "tiny", "template": "empty", "max_steps": 2, **run["config"]}
    return {"stack": "llamafactory"}, config

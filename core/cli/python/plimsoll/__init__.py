"""Will this fine-tuning run fit on this GPU, and what fills its memory?

    import plimsoll

    answer = plimsoll.report({
        "model": "mistralai/Mistral-7B-v0.3",
        "peft": {"r": 16},
        "training": {"per_device_train_batch_size": 1, "max_length": 2048, "bf16": True},
        "hardware": {"gpu": "rtx-4090"},
    })
    answer["gpu"]["verdict"]              # "fits", "tight" or "no"
    answer["memory"]["peak"]["device"]    # bytes, as nvidia-smi would show

    request = plimsoll.read("axolotl.yaml")["request"]
    plimsoll.diagnose(error_text, request)["summary"]

What is wrong with a request is an answer too: {"ok": False, "errors": [{"code", "pointer", "message", "allowed"}]}.
Nothing is asked of the network. The fields are those of plimsoll.contract.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.contract import Advice, Comparison, JsonObject, Refusal, Report, Request

__all__ = ["advise", "command", "compare", "diagnose", "export", "read", "report"]


def command() -> str:
    """The program beside this file: `plimsoll` of the command line."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "plimsoll")


def report(request: Request) -> Report | Refusal:
    """The memory of a run at each of its instants, whether it fits, its assumptions and notes."""
    return _asked(["report", "-", "--json"], request)


def advise(request: Request) -> Advice:
    """What makes it fit: plans for each size of GPU, the largest batch and length, machines to rent."""
    return _asked(["advise", "-", "--json"], request)


def compare(one: Request, other: Request) -> Comparison:
    """What each difference of two requests is worth."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("one.json", "other.json")]
        for path, request in zip(paths, (one, other)):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(request, file)
        return _answer(["compare", *paths, "--json"])


def diagnose(text: str, request: Request | None = None) -> JsonObject:
    """An error of lacking memory, explained; with the run's request also held against what that run needs."""
    if request is None:
        return _answer(["diagnose", "-", "--json"], text)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "request.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(request, file)
        return _answer(["diagnose", "-", "--json", "--request", path], text)


def read(path: str | os.PathLike[str]) -> JsonObject:
    """A configuration, script, notebook or command of another tool: its "request", and what became of each key."""
    return _answer(["import", os.fspath(path), "--json"])


def export(request: Request, to: str) -> str:
    """A request as a file of another tool: "axolotl", "llamafactory", "trl", "trl-python", "unsloth", ..."""
    done = _run(["export", "-", "--as", to], json.dumps(request))
    if done.returncode != 0:
        raise ValueError(done.stdout or done.stderr)
    return done.stdout


def _asked(arguments: list[str], request: Request) -> Any:
    return _answer(arguments, json.dumps(request))


def _answer(arguments: list[str], text: str = "") -> Any:
    done = _run(arguments, text)
    try:
        # What is wrong with a request is said where errors belong.
        return json.loads(done.stdout or done.stderr)
    except json.JSONDecodeError:
        raise RuntimeError(done.stderr or done.stdout) from None


def _run(arguments: list[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([command(), *arguments], input=text, capture_output=True, encoding="utf-8", check=False)

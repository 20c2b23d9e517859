"""What one linear keeps for backward under each of PEFT's methods, and how many parameters each trains.

    python peft_saved_tensors.py            # every method below
    python peft_saved_tensors.py LOHA OFT

Runs the real PEFT on a two-layer Llama in bf16 on a CPU (no weights needed) and lists the tensors that
torch.autograd.graph.saved_tensors_hooks sees in the first q_proj, parameters left out. The rows of
core/memory/layers/tuners.cpp were read from this with PEFT 0.21, Transformers 5.15 and torch 2.15.
"""

import sys

import torch
from peft import get_peft_model
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING
from transformers import LlamaConfig, LlamaForCausalLM

HIDDEN, TOKENS, BATCH = 768, 40, 2
RANKED = ["LORA", "LOHA", "LOKR", "HIRA", "GRALORA", "RANDLORA", "VERA", "PVERA", "DELORA", "DEFT", "PEANUT", "MISS", "SHIRA"]
METHODS = {name: {"r": 32} for name in RANKED} | {
    "VBLORA": {"r": 4},
    "OFT": {"r": 32, "oft_block_size": 0},
    "PSOFT": {"r": 64},
    "BOFT": {},
    "ROAD": {},
    "IA3": {"feedforward_modules": []},
    "C3A": {"block_size": 64},
    "FOURIERFT": {},
    "WAVEFT": {},
    "FROD": {},
}


def run(method):
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=HIDDEN, intermediate_size=1536, num_hidden_layers=2, num_attention_heads=24,
                         num_key_value_heads=8, head_dim=32, vocab_size=128, max_position_embeddings=512)
    base = LlamaForCausalLM(config).to(torch.bfloat16)
    settings = dict(METHODS[method], target_modules=["q_proj", "v_proj"])
    model = get_peft_model(base, PEFT_TYPE_TO_CONFIG_MAPPING[method](**settings))
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    q_proj = next(m for n, m in model.named_modules() if n.endswith("layers.0.self_attn.q_proj"))
    x = torch.randn(BATCH, TOKENS // BATCH, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    kept = {}

    def keep(tensor):
        place = tensor.untyped_storage().data_ptr()
        if place not in own:
            kept[place] = ("x " if place == x.untyped_storage().data_ptr() else "", tuple(tensor.shape), tensor.dtype, tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        q_proj(x)
    print(f"{method}: {trained} trained; keeps", ", ".join(f"{name}{shape} {dtype}" for name, shape, dtype, _ in kept.values()))


for name in sys.argv[1:] or METHODS:
    try:
        run(name)
    except NotImplementedError as error:  # sparse tensors have no storage to look at
        print(f"{name}: {error}")

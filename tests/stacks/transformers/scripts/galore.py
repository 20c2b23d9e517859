import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype=torch.bfloat16,
)
args = TrainingArguments(
    output_dir="out",
    optim="galore_adamw_layerwise",
    optim_target_modules=["attn", "mlp"],
    optim_args="rank=64, update_proj_gap=100",
    gradient_checkpointing=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

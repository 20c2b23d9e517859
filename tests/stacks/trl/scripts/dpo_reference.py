import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype=torch.bfloat16,
)
ref_model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype=torch.bfloat16,
)
args = DPOConfig(
    output_dir="out",
    max_length=1024,
    bf16=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
)
trainer = DPOTrainer(
    model=model,
    args=args,
    train_dataset=dataset,
    ref_model=ref_model,
)
trainer.train()

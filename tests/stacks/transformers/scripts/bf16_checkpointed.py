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
    bf16=True,
    gradient_checkpointing=True,
    per_device_train_batch_size=2,
    gradient_accumulation_steps=8,
    optim="adamw_torch",
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

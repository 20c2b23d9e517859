import torch
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype=torch.float16,
)
model = get_peft_model(
    model,
    LoraConfig(r=8, lora_alpha=16),
)
args = TrainingArguments(
    output_dir="out",
    fp16=True,
    gradient_checkpointing=True,
    optim="adamw_bnb_8bit",
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
)
args = TrainingArguments(
    output_dir="out",
    fp16=True,
    per_device_train_batch_size=1,
    torch_empty_cache_steps=4,
    save_steps=100,
    save_total_limit=3,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

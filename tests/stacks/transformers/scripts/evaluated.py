from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
)
args = TrainingArguments(
    output_dir="out",
    eval_strategy="steps",
    eval_steps=100,
    per_device_eval_batch_size=16,
    eval_accumulation_steps=2,
    prediction_loss_only=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

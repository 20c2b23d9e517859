from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
)
args = TrainingArguments(
    output_dir="out",
    do_eval=True,
    eval_steps=10,
    bf16=True,
    bf16_full_eval=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

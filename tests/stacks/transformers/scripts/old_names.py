from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
)
args = TrainingArguments(
    output_dir="out",
    per_gpu_train_batch_size=2,
    adafactor=True,
    num_train_epochs=1,
    auto_find_batch_size=False,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

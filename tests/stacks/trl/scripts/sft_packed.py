from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    max_length=4096,
    packing=True,
    packing_strategy="wrapped",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=8,
    eval_strategy="steps",
    eval_steps=100,
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    loss_type="nll",
    max_length=4096,
    per_device_train_batch_size=1,
    gradient_checkpointing=True,
    eval_strategy="steps",
    eval_steps=50,
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

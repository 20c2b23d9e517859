from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    activation_offloading=True,
    gradient_checkpointing=True,
    max_length=2048,
    torch_empty_cache_steps=10,
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

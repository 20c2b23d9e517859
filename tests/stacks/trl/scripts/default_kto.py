from datasets import load_dataset
from trl import KTOConfig, KTOTrainer

dataset = load_dataset("trl-lib/kto-mix-14k", split="train")
args = KTOConfig(
    output_dir="out",
)
trainer = KTOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

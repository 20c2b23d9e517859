from datasets import load_dataset
from trl import RewardConfig, RewardTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = RewardConfig(
    output_dir="out",
)
trainer = RewardTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

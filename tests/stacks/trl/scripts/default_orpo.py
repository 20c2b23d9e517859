from datasets import load_dataset
from trl import ORPOConfig, ORPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = ORPOConfig(
    output_dir="out",
)
trainer = ORPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

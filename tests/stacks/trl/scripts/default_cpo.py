from datasets import load_dataset
from trl import CPOConfig, CPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = CPOConfig(
    output_dir="out",
)
trainer = CPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

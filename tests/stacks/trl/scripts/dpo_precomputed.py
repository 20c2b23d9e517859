from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = DPOConfig(
    output_dir="out",
    precompute_ref_log_probs=True,
    max_length=1536,
    padding_free=False,
    fp16=True,
    bf16=False,
)
trainer = DPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

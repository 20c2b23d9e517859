from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = DPOConfig(
    output_dir="out",
    beta=0.2,
    max_length=2048,
    loss_type="ipo",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=4,
    gradient_checkpointing=True,
    bf16=True,
)
trainer = DPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

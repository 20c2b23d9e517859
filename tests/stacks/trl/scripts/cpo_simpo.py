from datasets import load_dataset
from trl import CPOConfig, CPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = CPOConfig(
    output_dir="out",
    loss_type="simpo",
    cpo_alpha=0.0,
    max_length=2048,
    per_device_train_batch_size=1,
    gradient_accumulation_steps=16,
    bf16=True,
)
trainer = CPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

from datasets import load_dataset
from trl import RewardConfig, RewardTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = RewardConfig(
    output_dir="out",
    gradient_checkpointing=True,
    max_length=4096,
    optim="adamw_torch",
    eval_strategy="steps",
    eval_steps=20,
    per_device_eval_batch_size=2,
)
trainer = RewardTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

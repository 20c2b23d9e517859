from datasets import load_dataset
from trl import KTOConfig, KTOTrainer

dataset = load_dataset("trl-lib/kto-mix-14k", split="train")
args = KTOConfig(
    output_dir="out",
    max_length=1024,
    per_device_train_batch_size=4,
    bf16=True,
    beta=0.3,
    eval_strategy="epoch",
)
trainer = KTOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

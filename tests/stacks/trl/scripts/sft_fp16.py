from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    fp16=True,
    bf16=False,
    max_length=512,
    gradient_checkpointing=False,
    prediction_loss_only=True,
    eval_strategy="steps",
    eval_accumulation_steps=4,
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
)
trainer.train()

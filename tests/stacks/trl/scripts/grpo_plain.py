from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = GRPOConfig(
    output_dir="out",
    num_generations=4,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    max_completion_length=1024,
    beta=0.04,
    bf16=True,
)
trainer = GRPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
)
trainer.train()

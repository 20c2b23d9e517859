from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = GRPOConfig(
    output_dir="out",
)
trainer = GRPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
)
trainer.train()

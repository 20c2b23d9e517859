from datasets import load_dataset
from trl import RLOOConfig, RLOOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = RLOOConfig(
    output_dir="out",
    num_generations=4,
    per_device_train_batch_size=4,
    max_completion_length=256,
    beta=0.0,
    bf16=True,
)
trainer = RLOOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
)
trainer.train()

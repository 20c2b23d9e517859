from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = GRPOConfig(
    output_dir="out",
    generation_batch_size=32,
    num_generations=8,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    loss_type="dr_grpo",
    mask_truncated_completions=True,
    optim="adamw_8bit",
)
trainer = GRPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
)
trainer.train()

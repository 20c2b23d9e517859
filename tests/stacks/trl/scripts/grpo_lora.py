from datasets import load_dataset
from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = GRPOConfig(
    output_dir="out",
    num_generations=8,
    per_device_train_batch_size=8,
    steps_per_generation=4,
    num_iterations=2,
    gradient_checkpointing=True,
    loss_type="dapo",
)
peft_config = LoraConfig(
    r=16,
    lora_alpha=32,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
trainer = GRPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
    peft_config=peft_config,
)
trainer.train()

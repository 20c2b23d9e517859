from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = GRPOConfig(
    output_dir="out",
    use_vllm=True,
    vllm_gpu_memory_utilization=0.5,
    num_generations=8,
    per_device_train_batch_size=8,
    gradient_accumulation_steps=4,
    max_completion_length=2048,
)
trainer = GRPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
)
trainer.train()

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")


def reward_short(completions, **kwargs):
    return [-float(len(text)) for text in completions]


args = GRPOConfig(
    output_dir="out",
    use_vllm=True,
    vllm_mode="colocate",
    vllm_enable_sleep_mode=True,
    num_generations=16,
    per_device_train_batch_size=16,
    use_liger_kernel=True,
    temperature=0.9,
)
trainer = GRPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    reward_funcs=reward_short,
    args=args,
    train_dataset=dataset,
)
trainer.train()

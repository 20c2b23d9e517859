from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    model_init_kwargs={"torch_dtype": "bfloat16", "attn_implementation": "sdpa"},
    max_length=2048,
    packing=True,
    optim="paged_adamw_8bit",
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

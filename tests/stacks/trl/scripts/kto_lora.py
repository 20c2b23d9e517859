from datasets import load_dataset
from peft import LoraConfig
from trl import KTOConfig, KTOTrainer

dataset = load_dataset("trl-lib/kto-mix-14k", split="train")
args = KTOConfig(
    output_dir="out",
    loss_type="apo_zero_unpaired",
    per_device_train_batch_size=4,
    max_length=2048,
)
peft_config = LoraConfig(
    r=16,
    lora_alpha=32,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
trainer = KTOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    peft_config=peft_config,
)
trainer.train()

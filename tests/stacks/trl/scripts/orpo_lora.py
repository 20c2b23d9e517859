from datasets import load_dataset
from peft import LoraConfig
from trl import ORPOConfig, ORPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = ORPOConfig(
    output_dir="out",
    max_length=2048,
    beta=0.05,
    per_device_train_batch_size=2,
    optim="paged_adamw_32bit",
    gradient_checkpointing=True,
)
peft_config = LoraConfig(
    r=16,
    lora_alpha=32,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
trainer = ORPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    peft_config=peft_config,
)
trainer.train()

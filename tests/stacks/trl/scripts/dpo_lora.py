from datasets import load_dataset
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = DPOConfig(
    output_dir="out",
    per_device_train_batch_size=1,
    max_length=1024,
    eval_strategy="steps",
    eval_steps=50,
    bf16=True,
)
peft_config = LoraConfig(
    r=16,
    lora_alpha=32,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
trainer = DPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
    peft_config=peft_config,
)
trainer.train()

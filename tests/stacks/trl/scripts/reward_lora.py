from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForSequenceClassification
from trl import RewardConfig, RewardTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
model = AutoModelForSequenceClassification.from_pretrained(
    "meta-llama/Llama-3.2-1B", num_labels=1, torch_dtype="bfloat16"
)
args = RewardConfig(
    output_dir="out",
    max_length=1024,
    per_device_train_batch_size=8,
    bf16=True,
)
trainer = RewardTrainer(
    model=model,
    args=args,
    train_dataset=dataset,
    peft_config=LoraConfig(r=16, lora_alpha=32, task_type="SEQ_CLS"),
)
trainer.train()

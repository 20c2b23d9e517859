from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = DPOConfig(
    output_dir="out",
    per_device_train_batch_size=4,
    gradient_checkpointing=True,
)
trainer = DPOTrainer(
    model=model,
    args=args,
    train_dataset=dataset,
    peft_config=LoraConfig(r=16, task_type="CAUSAL_LM"),
)
trainer.train()

from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype="auto",
)
model = get_peft_model(
    model,
    LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM"),
)
args = TrainingArguments(
    output_dir="out",
    bf16=True,
    per_device_train_batch_size=4,
    optim="paged_adamw_8bit",
    max_steps=60,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

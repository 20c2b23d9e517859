from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    attn_implementation="eager",
)
args = TrainingArguments(
    output_dir="out",
    torch_compile=True,
    bf16=True,
    optim="adamw_torch_fused",
    adam_beta1=0.95,
    dataloader_num_workers=2,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

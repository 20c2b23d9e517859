from datasets import load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

dataset = load_dataset("trl-lib/tokens", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    dtype="auto",
)
args = TrainingArguments(
    output_dir="out",
    bf16=True,
    use_liger_kernel=True,
    liger_kernel_config={"rope": True, "rms_norm": True, "swiglu": False, "cross_entropy": False, "fused_linear_cross_entropy": True},
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=dataset,
)
trainer.train()

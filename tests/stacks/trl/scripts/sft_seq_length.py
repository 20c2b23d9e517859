from datasets import load_dataset
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype="bfloat16",
)
args = SFTConfig(
    output_dir="out",
    max_seq_length=2048,
    packing=True,
    dataset_text_field="text",
    per_device_train_batch_size=4,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    bf16=True,
)
trainer = SFTTrainer(model=model, args=args, train_dataset=dataset)
trainer.train()

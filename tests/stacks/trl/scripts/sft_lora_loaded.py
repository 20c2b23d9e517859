import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.2-1B",
    torch_dtype=torch.bfloat16,
    attn_implementation="eager",
)
args = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=2,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    max_length=1536,
    model_init_kwargs=None,
)
peft_config = LoraConfig(
    r=64,
    lora_dropout=0.1,
    target_modules=["q_proj", "v_proj"],
    use_dora=True,
)
trainer = SFTTrainer(
    model=model,
    args=args,
    train_dataset=dataset,
    peft_config=peft_config,
)
trainer.train()

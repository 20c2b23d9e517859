from datasets import load_dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    max_seq_length=1024,
    dataset_text_field="text",
    fp16=True,
    optim="paged_adamw_32bit",
    evaluation_strategy="steps",
    per_device_eval_batch_size=1,
    model_init_kwargs={"torch_dtype": "float16"},
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
    eval_dataset=dataset,
    peft_config=LoraConfig(r=8, lora_alpha=16, task_type="CAUSAL_LM"),
)
trainer.train()

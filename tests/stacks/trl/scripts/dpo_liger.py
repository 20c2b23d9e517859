from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")
args = DPOConfig(
    output_dir="out",
    use_liger_kernel=True,
    max_length=4096,
    optim="adamw_8bit",
    loss_type="sigmoid",
)
trainer = DPOTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

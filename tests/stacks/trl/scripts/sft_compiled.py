from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("trl-lib/Capybara", split="train")
args = SFTConfig(
    output_dir="out",
    torch_compile=True,
    max_length=1024,
    use_liger_kernel=True,
    liger_kernel_config={"rope": True, "swiglu": True, "rms_norm": False, "fused_linear_cross_entropy": False, "cross_entropy": True},
)
trainer = SFTTrainer(
    model="meta-llama/Llama-3.2-1B",
    args=args,
    train_dataset=dataset,
)
trainer.train()

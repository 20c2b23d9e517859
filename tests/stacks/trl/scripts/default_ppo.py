from trl import PPOConfig

args = PPOConfig(output_dir="out")

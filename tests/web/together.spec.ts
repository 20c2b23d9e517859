// What people hold of one run and paste piece by piece, or with words beside it: nothing of it is lost, and nothing is made up.
import type { Page } from "@playwright/test";
import { box, expect, figure, headline, open, paste, test, unfold } from "./page.ts";

const FSDP = `compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_sharding_strategy: FULL_SHARD
  fsdp_offload_params: false
mixed_precision: bf16
num_machines: 1
num_processes: 8
`;
const TRAINER = `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
MAX_LEN = 4096
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-32B-Instruct", dtype="bfloat16")
def tokenize(batch):
    return tokenizer(batch["text"], truncation=True, max_length=MAX_LEN)
ds = ds.map(tokenize, batched=True)
args = TrainingArguments(
    output_dir="out", per_device_train_batch_size=2, gradient_accumulation_steps=4,
    bf16=True, gradient_checkpointing=True,
)
Trainer(model=model, args=args, train_dataset=ds).train()
`;

test("a launcher's file and the script that is pasted after it are one run", async ({ page }) => {
  await open(page);
  await paste(page, FSDP);
  await expect(page.locator(".ask", { hasText: "Which model?" })).toBeVisible();
  await paste(page, TRAINER);
  await expect(page.locator("#found-title")).toContainText(/Transformers, Python \+ accelerate/);
  await expect(page).toHaveURL(/num_gpus=8/);
  await expect(page).toHaveURL(/strategy=fsdp/);
  await expect(page).toHaveURL(/max_length=4096/);
  // One step back is the launcher's file alone, and another script takes the place of the undone one.
  await page.locator("plimsoll-paste").getByRole("button", { name: "undo" }).click();
  await expect(page).not.toHaveURL(/model=/);
  await paste(page, TRAINER.replace("Qwen2.5-32B", "Qwen2.5-7B"));
  await expect(page).toHaveURL(/model=Qwen\/Qwen2.5-7B-Instruct.*num_gpus=8/);
  // A script of another model is another run.
  await paste(
    page,
    `SFTTrainer(model="Qwen/Qwen3-8B", args=SFTConfig(per_device_train_batch_size=1, bf16=True))`,
  );
  await expect(page).toHaveURL(/Qwen3-8B/);
  await expect(page).not.toHaveURL(/num_gpus/);
});

test("the launcher's file and the script pasted as one text are one run too", async ({ page }) => {
  await open(page);
  await paste(page, `${FSDP}\n${TRAINER}`);
  await expect(page).toHaveURL(/Qwen2.5-32B-Instruct.*num_gpus=8/);
});

test("a change is written into the file that has words for it", async ({ page }) => {
  await open(page);
  await paste(page, FSDP);
  await paste(page, TRAINER);
  await expect(page).toHaveURL(/Qwen2.5-32B-Instruct.*num_gpus=8/);
  await page.getByLabel("GPUs", { exact: true }).fill("4");
  const patched = page.locator(".patched");
  await expect(patched).toHaveCount(1);
  await expect(patched.locator(".added")).toHaveText(["+num_processes: 4\n"]);
});

const OWN_FLAGS = `import argparse
from trl import SFTConfig, SFTTrainer
parser = argparse.ArgumentParser()
parser.add_argument("--model", default="meta-llama/Llama-3.1-8B")
parser.add_argument("--bs", type=int, default=4)
args = parser.parse_args()
SFTTrainer(model=args.model, args=SFTConfig("out", per_device_train_batch_size=args.bs, max_length=1024)).train()
`;

test("a script is read as the command beside it starts it", async ({ page }) => {
  await open(page);
  await paste(page, OWN_FLAGS);
  await expect(page).toHaveURL(/Llama-3.1-8B.*per_device_train_batch_size=4/);
  await paste(page, "torchrun --nproc_per_node 2 train.py --model Qwen/Qwen3-8B --bs 1");
  await expect(page).toHaveURL(/Qwen3-8B/);
  await expect(page).toHaveURL(/per_device_train_batch_size=1/);
  await expect(page).toHaveURL(/num_gpus=2/);
  await expect(page).toHaveURL(/max_length=1024/);
});

test("the flags of a command win over the file that it starts", async ({ page }) => {
  await open(page);
  await paste(
    page,
    "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 8\nmicro_batch_size: 2\nsequence_len: 8192\ndatasets:\n  - path: x\n    type: alpaca\n",
  );
  await expect(page).toHaveURL(/max_length=8192/);
  await paste(page, "axolotl train axo.yaml --micro-batch-size 1 --sequence-len 4096");
  await expect(page).toHaveURL(/max_length=4096/);
  await expect(page).toHaveURL(/Qwen3-8B.*per_device_train_batch_size=1/);
  // A change is written where it counts: what the command says into the command, the rest into the file.
  await page.getByLabel("Micro-batch", { exact: true }).fill("3");
  const patched = page.locator(".patched");
  await expect(patched).toHaveCount(1);
  await expect(patched.locator(".added")).toContainText("axolotl train axo.yaml --micro-batch-size 3");
  await page.getByLabel("Gradient checkpointing", { exact: true }).check();
  await expect(patched.locator(".added", { hasText: "gradient_checkpointing: true" })).toHaveCount(1);
});

const SHARDED = `model_name_or_path: Qwen/Qwen2.5-14B-Instruct
stage: sft
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_config.json
template: qwen
cutoff_len: 8192
per_device_train_batch_size: 4
bf16: true
`;

test("what was asked and answered stays when the file is pasted anew, with other settings", async ({
  page,
}) => {
  await open(page);
  await paste(page, SHARDED);
  await page
    .locator(".ask", { hasText: "How many GPUs?" })
    .getByRole("button", { name: "4", exact: true })
    .click();
  await expect(page).toHaveURL(/num_gpus=4/);
  await paste(page, SHARDED.replace("size: 4", "size: 2"));
  await expect(page).toHaveURL(/per_device_train_batch_size=2/);
  await expect(page).toHaveURL(/num_gpus=4/);
  // Of another model nobody has answered it.
  await paste(page, SHARDED.replace("14B", "7B"));
  await expect(page).toHaveURL(/Qwen2.5-7B/);
  await expect(page).not.toHaveURL(/num_gpus/);
});

const CONFIGURED = `import hydra
from trl import SFTConfig, SFTTrainer
@hydra.main(config_path="conf")
def main(cfg):
    args = SFTConfig(max_length=cfg.length, per_device_train_batch_size=cfg.batch, gradient_checkpointing=True, bf16=True)
    SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, train_dataset=dataset).train()
main()
`;

test("sizes that a script takes from elsewhere are asked for, and no trainer's default stands in", async ({
  page,
}) => {
  await open(page);
  await paste(page, CONFIGURED);
  await page
    .locator(".ask", { hasText: "Which GPU?" })
    .getByRole("button", { name: "H100 SXM5 80GB" })
    .click();
  const batch = page.locator(".ask", { hasText: "How many samples has a micro-batch?" });
  const length = page.locator(".ask", { hasText: "How long are your samples" });
  await expect(batch).toBeVisible();
  await expect(headline(page)).not.toContainText(/Fits|Does not fit/);
  await batch.getByRole("button", { name: "1", exact: true }).click();
  await length.getByRole("button", { name: "2,048" }).click();
  await expect(page.locator(".ask", { hasText: "How long" })).toHaveCount(0);
  await expect(headline(page)).toContainText(/Fits|Tight|Does not fit/);
  await expect(page).toHaveURL(/per_device_train_batch_size=1/);
});

const LOADS = `from unsloth import FastModel
fourbit_models = [
    # 4bit dynamic quants for superior accuracy and low memory use
    "unsloth/gemma-3-12b-it-unsloth-bnb-4bit",
]
model, tokenizer = FastModel.from_pretrained(
    model_name = "unsloth/gemma-3-4b-it",
    max_seq_length = 2048,
    load_in_4bit = True,  # 4 bit quantization to reduce memory
)
`;
const ADAPTS = `model = FastModel.get_peft_model(
    model,
    finetune_vision_layers     = False, # Turn off for just text!
    finetune_language_layers   = True,
    r = 8,
    lora_alpha = 8,
    lora_dropout = 0,
)
`;
const TRAINS = `from trl import SFTTrainer, SFTConfig
trainer = SFTTrainer(
    model = model,
    train_dataset = dataset,
    args = SFTConfig(per_device_train_batch_size = 2, gradient_accumulation_steps = 4, optim = "adamw_8bit"),
)
`;

test("cells of a notebook that are pasted one after another are one script of its library", async ({
  page,
}) => {
  await open(page);
  await paste(page, LOADS);
  // A remark in it is no error, and what is trained is asked for.
  const method = page.locator(".ask", { hasText: "Which method?" });
  await expect(method).toContainText("until you say: QLoRA, NF4");
  await expect(page.locator("#diagnosis-title")).toHaveCount(0);
  await paste(page, ADAPTS);
  await expect(page).toHaveURL(/peft.r=8/);
  await expect(page).toHaveURL(/stack=unsloth/);
  await paste(page, TRAINS);
  await expect(page).toHaveURL(/optim=adamw_8bit/);
  await expect(page).toHaveURL(/stack=unsloth/);
  await expect(page).toHaveURL(/per_device_train_batch_size=2/);
  await expect(method).toHaveCount(0);
});

const FAILED = `INFO 09-14 10:21:31 [core.py:75] Initializing a V1 LLM engine (v0.10.2) with config: model='Qwen/Qwen2.5-7B-Instruct', dtype=torch.bfloat16, max_seq_len=4608
[rank2]: Traceback (most recent call last):
[rank2]:   File "/venv/lib/python3.11/site-packages/transformers/trainer.py", line 4009, in training_step
[rank2]:     loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
[rank2]:   File "/venv/lib/python3.11/site-packages/trl/trainer/grpo_trainer.py", line 1707, in _compute_loss
[rank2]:     per_token_logps, entropies = self._get_per_token_logps_and_entropies(
[rank2]:   File "/venv/lib/python3.11/site-packages/trl/trainer/grpo_trainer.py", line 911, in _get_per_token_logps_and_entropies
[rank2]:     logits = logits / self.temperature
[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB. GPU 2 has a total capacity of 79.19 GiB of which 6.71 GiB is free. Including non-PyTorch memory, this process has 72.47 GiB memory in use. Of the allocated memory 69.92 GiB is allocated by PyTorch, and 488.31 MiB is reserved by PyTorch but unallocated.
`;
const GRPO = `from trl import GRPOConfig, GRPOTrainer
config = GRPOConfig(
    output_dir="grpo", deepspeed="ds_zero3.json", bf16=True, gradient_checkpointing=True,
    per_device_train_batch_size=16, gradient_accumulation_steps=2, num_generations=8,
    max_prompt_length=512, max_completion_length=2048, beta=0.0,
    use_vllm=True, vllm_mode="colocate", vllm_gpu_memory_utilization=0.3,
)
trainer = GRPOTrainer(model="Qwen/Qwen2.5-7B-Instruct", reward_funcs=reward, args=config, train_dataset=ds)
`;

test("an error whose script comes after it is explained by the script, and mended once its cards are known", async ({
  page,
}) => {
  await open(page);
  await paste(page, FAILED);
  // Nobody has said that all weights are trained.
  await expect(page.locator(".verdict .ask", { hasText: "Which method?" })).toBeVisible();
  await paste(page, GRPO);
  const found = page.locator("plimsoll-paste .found");
  await expect(found.filter({ hasText: "What the message says" })).toContainText("32,768 tokens");
  // For how many cards, nobody has said: no plan is for one.
  const cards = page.locator(".verdict .ask", { hasText: "How many GPUs?" });
  await expect(cards).toBeVisible();
  // A third process speaks: two cards are too few.
  await expect(cards.getByRole("button", { name: /^[12]$/ })).toHaveCount(0);
  await expect(page.locator(".way")).toHaveCount(0);
  await cards.getByRole("button", { name: "4", exact: true }).click();
  await expect(cards).toHaveCount(0);
  const way = page.locator("plimsoll-paste .way");
  await expect(way).toBeVisible();
  await way.getByRole("button", { name: "Apply" }).click();
  await expect(headline(page)).toContainText(/Fits|Tight/);
  // The script comes back, with only its own lines changed.
  await expect(page.locator("plimsoll-paste .patch, plimsoll-paste pre").first()).toContainText("GRPOConfig");
});

test("words beside a file say the card and the images that the file leaves open", async ({ page }) => {
  await open(page);
  await paste(
    page,
    `model_name_or_path: Qwen/Qwen2.5-VL-7B-Instruct
image_max_pixels: 786432
stage: sft
finetuning_type: lora
lora_rank: 8
lora_target: all
template: qwen2_vl
cutoff_len: 8192
per_device_train_batch_size: 1
bf16: true

3 images per sample of 1024x768. What is the largest batch on an L40S?
`,
  );
  await expect(headline(page)).toContainText("L40S 48GB");
  await expect(page).toHaveURL(/images_per_sample=3/);
  await expect(page.locator(".verdict")).toContainText(/Micro-batch up to \d/);
  await expect(page.locator("plimsoll-paste")).not.toContainText("memory ran out");
});

test("what lies in the machine's own memory is said where it is more than on a card", async ({ page }) => {
  await open(page);
  const command = `accelerate launch --num_processes 8 --use_deepspeed --deepspeed_config_file ds.json train.py --model_name_or_path meta-llama/Llama-3.1-70B --per_device_train_batch_size 1 --gradient_checkpointing true --bf16 true`;
  const file = `{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}},
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"}`;
  await paste(page, file);
  await paste(page, command);
  const host = page
    .locator(".chips")
    .getByRole("button", { name: /Host memory of the machine: 1,\d{3}\.\d GiB at least/ });
  await expect(host).toBeVisible();
  await host.click();
  await expect(figure(page, "Host memory").first()).toContainText("GiB");
});

test("what the answer to a question takes is what the card computes with", async ({ page }) => {
  await open(page);
  await box(page).fill("Does a 13B model with LoRA fit a 4080?");
  const model = page.locator(".ask", { hasText: "Which model?" });
  await model.getByRole("button", { name: "Llama-2-13b-hf" }).click();
  await expect(page).toHaveURL(/gradient_checkpointing=true/);
  await page.locator(".ask", { hasText: "How long" }).getByRole("button", { name: "1,024" }).click();
  await expect(headline(page)).toContainText("Does not fit the GeForce RTX 4080");
  // The card has the answer; the sum that was made before the model was known is gone.
  await expect(page.locator("plimsoll-paste")).not.toContainText("No model is named");
  // What is asked of it next changes that run and nothing else of it.
  await paste(page, "and on an A100 80GB at 2k?");
  await expect(headline(page)).toContainText("Fits the A100");
  await expect(page).toHaveURL(/max_length=2048.*Llama-2-13b-hf|Llama-2-13b-hf.*max_length=2048/);
});

test("a max_length of None is asked for, and a further step says what it does alone", async ({ page }) => {
  await open(page);
  await paste(
    page,
    `import argparse
from transformers import BitsAndBytesConfig
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer
p = argparse.ArgumentParser()
p.add_argument("--max_length", type=int, default=None)
args = p.parse_args()
bnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B-Instruct", quantization_config=bnb)
peft_config = LoraConfig(r=64, target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])
config = DPOConfig(output_dir="out", per_device_train_batch_size=2, bf16=True, gradient_checkpointing=True,
    max_length=args.max_length)
DPOTrainer(model=model, args=config, peft_config=peft_config, train_dataset=ds).train()
`,
  );
  const length = page.locator(".ask", { hasText: "How long" });
  await page.locator(".ask").getByRole("button", { name: "GeForce RTX 3090 24GB" }).click();
  // Who does not know it is told how long it may be, and takes that.
  await expect(length).toBeVisible();
  await page
    .locator(".chips")
    .getByRole("button", { name: /Up to 1,\d{3} tokens/ })
    .click();
  await expect(length).toHaveCount(0);
  await expect(headline(page)).toContainText("Fits the GeForce RTX 3090");
  await unfold(page, "Still out of memory?");
  const segments = page.locator("li", { hasText: "PYTORCH_CUDA_ALLOC_CONF" });
  await expect(segments.first()).not.toContainText("slower");
  await expect(page.locator("plimsoll-app")).not.toContainText("Adapters on all linear layers");
});

/** Drops files on the page, all at once. */
const drop = (page: Page, files: Record<string, string>) =>
  page.evaluate((files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(files)) dataTransfer.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, files);

const STAGE_2 = '{"zero_optimization": {"stage": 2}}';
const STARTED =
  "deepspeed --num_gpus 4 train.py --deepspeed ds.json --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 --max_length 2048 --bf16";

test("files that are dropped together are read together, and one of another run is named", async ({
  page,
}) => {
  await open(page);
  await drop(page, { "ds.json": STAGE_2, "train.py": TRAINER });
  await expect(page).toHaveURL(/Qwen2\.5-32B-Instruct.*strategy=zero2/);
  await drop(page, {
    "one.py": TRAINER,
    "other.yaml": "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 8\n",
  });
  await expect(page).toHaveURL(/Qwen3-8B/);
  await expect(page.locator("plimsoll-paste .complaint")).toContainText("Not read");
  await expect(page.locator("plimsoll-paste .complaint")).toContainText("one.py");
});

test("a DeepSpeed file below the command that names it is its configuration, however short", async ({
  page,
}) => {
  await open(page);
  await paste(page, `${STARTED}\n\n${STAGE_2}`);
  await expect(page).toHaveURL(/Llama-3\.1-8B.*num_gpus=4.*strategy=zero2/);
  // Settings of another model below them have no say, and that is said.
  await paste(page, `${STARTED}\n\nbase_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 8\n`);
  await expect(page.locator(".found .notes")).toContainText("Axolotl of Qwen/Qwen3-8B");
});

// German for what stands in the tables behind an answer: tensors by what the core calls them, reasons of assumptions by their
// English text, help by the pointer of its field. What is not in here stays as the core says it; names of modules are names.

const TENSORS: Record<string, string> = {
  weights: "Gewichte",
  "optimizer states": "Optimierer-Zustände",
  adapters: "Adapter",
  "adapted experts": "Experten mit Adaptern",
  norm: "Norm",
  "lm_head and loss": "lm_head und Verlust",
  "final norm": "letzte Norm",
  attention: "Attention",
  "layer input": "Schichteingabe",
  "cuBLAS workspace": "cuBLAS-Arbeitsspeicher",
  batch: "Batch",
  "cross-entropy": "Kreuzentropie",
  "input embeddings": "Eingabe-Embeddings",
  "activations between embedding and layers": "Aktivierungen zwischen Embedding und Schichten",
  residual: "Residuum",
  "tokens sorted by expert": "Token, nach Experten sortiert",
  experts: "Experten",
  "expert outputs times router weights": "Ausgaben der Experten mal Router-Gewichte",
  "upcast weights": "Gewichte in fp32 umgewandelt",
  activation: "Aktivierungsfunktion",
  scales: "Skalen",
  "gate times up": "Gate mal Up",
  "gradient buckets": "Gradienten-Buckets",
  router: "Router",
  "rotary positions": "Rotary-Positionen",
  "gradients outside the layers": "Gradienten außerhalb der Schichten",
  "layer inputs being offloaded": "Schichteingaben auf dem Weg in den Arbeitsspeicher",
  "token embeddings": "Token-Embeddings",
  "gradient partition of this rank": "Anteil dieses Ranks an den Gradienten",
  "all-gathered parameters outside the layers": "geholte Parameter außerhalb der Schichten",
  "all-gathered head parameters": "geholte Parameter des Kopfes",
  "all-gathered layer parameters": "geholte Parameter einer Schicht",
  gradients: "Gradienten",
  "gradients for reduce-scatter": "Gradienten für Reduce-Scatter",
  "gradient of the last hidden states": "Gradient der letzten Hidden States",
  "embedding gradient": "Gradient des Embeddings",
};

const PARTS: Record<string, string> = {
  "clean-up": "Aufräumen",
  decoder: "Decoder",
  embedding: "Embedding",
  encoder: "Encoder",
  head: "Kopf",
  inputs: "Eingaben",
  loss: "Verlust",
  optimizer: "Optimierer",
  projector: "Projektor",
  text: "Text",
  vision: "Bildteil",
  weights: "Gewichte",
};

const ASSUMED: Record<string, string> = {
  "the release taken where no number is given; say yours if it is another":
    "diese Version gilt, wo keine genannt ist; bitte die eigene angeben",
  "TrainingArguments default": "Voreinstellung von TrainingArguments",
  "experts are what Transformers' model class makes of them": "Experten sind so, wie Transformers sie anlegt",
  "samples of different length are padded to the longest, so an attention mask is built":
    "verschieden lange Beispiele werden auf das längste aufgefüllt, also entsteht eine Attention-Maske",
  "one sample a batch needs no padding": "ein Beispiel je Batch braucht kein Padding",
  "the Trainer drops the model's outputs before the backward pass":
    "der Trainer gibt die Ausgaben des Modells vor dem Rückwärtslauf frei",
  "Transformers uses PyTorch's scaled_dot_product_attention unless told otherwise":
    "Transformers nimmt scaled_dot_product_attention von PyTorch, wenn nichts anderes gesagt ist",
  "evaluation computes its loss as training does": "die Auswertung rechnet den Verlust wie das Training",
  "evaluation is packed as training is": "die Auswertung packt wie das Training",
  "Transformers' cross-entropy of the model class, over all logits":
    "Kreuzentropie der Modellklasse in Transformers, über alle Logits",
  "the Trainer switches the cache off under checkpointing":
    "der Trainer schaltet den Cache unter Gradient Checkpointing ab",
  "the Trainer's default from Transformers 4.56 with PyTorch 2.8":
    "Voreinstellung des Trainers ab Transformers 4.56 mit PyTorch 2.8",
  "PEFT 0.12 and later keeps adapters in fp32 (autocast_adapter_dtype)":
    "PEFT hält Adapter ab 0.12 in fp32 (autocast_adapter_dtype)",
  "the checkpoint is loaded in the type it was published in":
    "der Checkpoint wird in dem Typ geladen, in dem er veröffentlicht ist",
  "the plain Transformers Trainer": "der Trainer von Transformers",
  "Transformers 5 checkpoints without reentrance": "Transformers 5 nimmt use_reentrant=False",
  "SFTTrainer checkpoints without reentrance from TRL 0.27, also on Transformers 4":
    "SFTTrainer nimmt ab TRL 0.27 use_reentrant=False, auch mit Transformers 4",
  "a trainer that is given a model's name loads it in float32 from TRL 0.27 on":
    "ein Trainer, der nur den Namen des Modells bekommt, lädt es ab TRL 0.27 in float32",
  "default of Unsloth's trainers": "Voreinstellung der Trainer von Unsloth",
  "the default of TRL's trainer; say yours": "Voreinstellung des Trainers von TRL; bitte die eigene angeben",
  "PEFT switches the adapters off for the reference; no copy is held":
    "PEFT schaltet die Adapter für die Referenz ab; eine Kopie gibt es nicht",
  "the size that the model's configuration gives its vision tower":
    "die Größe, die die Konfiguration des Modells dem Bildteil gibt",
  "the Trainer of Transformers 5 trains without a cache":
    "der Trainer von Transformers 5 trainiert ohne Cache",
};

const HELP: Record<string, string> = {
  "/stack": "Mit welchen Bibliotheken trainiert wird: Was nicht angegeben ist, hat deren Voreinstellung.",
  "/hardware/in_use_gib": "Speicher in GiB, den andere Programme auf dieser GPU schon belegen.",
  "/versions/transformers":
    "Version von Transformers; Typ, Cache, Checkpointing und Verlust hängen von ihr ab.",
  "/versions/peft": "Version von PEFT; Adapter sind ab 0.12 in fp32.",
  "/versions/trl": "Version von TRL; Umwandlungen, Typ der Adapter und Verlust hängen von ihr ab.",
  "/versions/torch": "Version von PyTorch.",
  "/data/samples": "Beispiele im Trainingsdatensatz.",
  "/data/epochs": "Durchläufe durch den Trainingsdatensatz.",
  "/data/mean_length": "Mittlere Länge eines Beispiels in Token.",
  "/data/p50_length": "Länge des mittleren Beispiels in Token: Die Hälfte ist länger.",
  "/data/p90_length": "So viele Token haben neun von zehn Beispielen höchstens.",
  "/data/p95_length": "So viele Token haben 95 von 100 Beispielen höchstens.",
  "/data/p99_length": "So viele Token haben 99 von 100 Beispielen höchstens.",
  "/data/longest_length":
    "Token im längsten Beispiel, wo max_length nur eine Obergrenze ist; 0: Beispiele so lang wie max_length.",
  "/training/per_device_eval_batch_size": "Sequenzen in einem Batch der Auswertung.",
  "/training/eval_accumulation_steps":
    "So viele Batches der Auswertung bleiben auf der GPU, bevor sie in den Arbeitsspeicher kommen.",
  "/peft/lora_alpha": "Skalierung der Adapter; ändert am Speicher nichts.",
};

const OTHERS: Record<string, string> = {
  "way_why.with_unsloth": "Eigene Schichten und eigener Verlust behalten weniger für den Rückwärtslauf.",
  "way_why.larger_gpu": "Die kleinste GPU, auf die dieser Lauf passt, wie er ist.",
  "way_why.rented_machine": "Die Maschine, auf die dieser Lauf für das wenigste Geld passt, wie er ist.",
  "way_why.smaller_model":
    "Das größte kleinere Modell derselben Familie, das sich mit diesen Einstellungen auf dieser GPU trainieren lässt.",
  "way_why.with_adapters":
    "Gradienten und Optimierer-Zustände gibt es nur für die Adapter, weniger als 1\u00a0% der Gewichte.",
  "way_why.more_gpus":
    "Die GPUs teilen sich, was jede sonst ganz halten würde; der effektive Batch bleibt gleich.",
  "habit.empty_cache_each_step":
    "torch.cuda.empty_cache() in der Schleife gibt keinen Tensor frei: {size} freie Blöcke gehen zurück und werden im nächsten Schritt langsamer wieder geholt.",
  "habit.rank_cut_saves_little":
    "Der halbe Rang würde nur {size} sparen: Er ist es nicht, was die GPU füllt.",
  "habit.dataloader_workers":
    "Weniger Dataloader-Worker, TOKENIZERS_PARALLELISM und OMP_NUM_THREADS sparen Arbeitsspeicher und CPU, aber keinen GPU-Speicher.",
};

const under = (prefix: string, words: Record<string, string>) =>
  Object.fromEntries(Object.entries(words).map(([id, word]) => [`${prefix}${id}`, word]));

export const DETAILS: Record<string, string> = {
  ...under("tensor.", TENSORS),
  ...under("part.", PARTS),
  ...under("assumed.", ASSUMED),
  ...under("help", HELP),
  ...OTHERS,
};

// German for what the core says by an id: what a component is, titles of changes and why they save
// memory, titles of causes, the gist of a note. The core's longer texts (evidence, sources) stay in English, and are marked as such.
import { DETAILS } from "./de-details.ts";
import { REMEDIES } from "./de-remedies.ts";

export const CORE: Record<string, string> = {
  ...DETAILS,
  ...REMEDIES,
  "what.weights": "Das Basismodell.",
  "what.adapters": "LoRA-Matrizen und Module, die neben der Basis voll trainiert werden.",
  "what.gradients": "Gradienten der trainierten Parameter.",
  "what.optimizer": "Zustände, die der Optimierer von Schritt zu Schritt behält.",
  "what.boundaries": "Eingaben der Schichten, die Gradient Checkpointing behält.",
  "what.activations": "Tensoren, die Autograd für den Rückwärtslauf behält.",
  "what.logits": "Bewertungen des ganzen Vokabulars und was der Verlust daraus macht.",
  "what.autocast": "16-Bit-Kopien von fp32-Gewichten, die Autocast anlegt.",
  "what.transient": "Tensoren, die nur die gerade laufende Operation braucht.",
  "what.kv_cache": "Schlüssel und Werte, die ein Cache hält, auch wenn nichts erzeugt wird.",
  "what.inputs": "Der Batch selbst.",
  "what.frozen_models": "Netze, die nur gelesen werden: Referenz- und Belohnungsmodell.",
  "what.engine": "vLLM auf derselben GPU: eigene Gewichte und eigener Cache.",
  "what.workspace": "Puffer der Matrixbibliothek, die PyTorch mitzählt.",
  "what.gathered": "Parameter, die von den anderen GPUs geholt sind.",
  "what.buckets": "Puffer für das, was die GPUs einander schicken.",
  "what.allocator_slack": "Speicher, den PyTorch hält, aber keinem Tensor gegeben hat.",
  "what.engine_overhead":
    "Was vLLM außerhalb der Zählung von PyTorch hält, auch im Schlaf: Arbeitsspeicher seiner Bibliotheken.",
  "what.cuda_context": "Treiber und Kernel, von PyTorch nicht gezählt.",

  "moment.load": "Die Gewichte kommen an, ein Tensor nach dem anderen.",
  "moment.prepare": "Umwandlungen sind gemacht und Adapter angelegt.",
  "moment.forward": "Alle Schichten und der Kopf sind gelaufen, der Verlust ist bekannt.",
  "moment.loss": "Der Verlust läuft rückwärts: die Logits und ihre Gradienten.",
  "moment.backward": "Die Schichten laufen rückwärts, eine nach der anderen.",
  "moment.optimizer_step_first": "Der erste Schritt: Die Zustände entstehen.",
  "moment.optimizer_step": "Jeder spätere Schritt.",
  "moment.eval": "Auswertung zwischen zwei Schritten: ohne Gradienten, mit eigener Batchgröße.",
  "moment.generate": "Antworten werden geschrieben.",
  "moment.save": "Ein Checkpoint wird geschrieben.",
  "moment.load_best": "Der beste Checkpoint wird zurückgelesen.",
  "moment.merge": "Adapter werden in die Gewichte gerechnet, eine Matrix nach der anderen.",

  "fix.adafactor": "Adafactor",
  "fix.cut_cross_entropy": "Verlust ohne Logits (Cut Cross-Entropy)",
  "fix.flash_attention": "FlashAttention-2",
  "fix.adapters_instead_of_full": "LoRA statt vollem Fine-Tuning",
  "fix.double_quantization": "Doppelte Quantisierung",
  "fix.quantized_experts": "Auch die Experten quantisieren",
  "fix.newer_trl": "TRL 1.15 oder neuer",
  "fix.linear_experts": "Experten als lineare Schichten",
  "fix.eight_bit_optimizer": "AdamW in 8 Bit",
  "fix.eval_accumulation": "Ergebnisse der Auswertung in den Speicher des Rechners",
  "fix.expandable_segments": "Wachsende Segmente (expandable_segments)",
  "fix.fewer_images": "Weniger Bilder je Beispiel",
  "fix.fewer_targets": "Weniger Zielmodule",
  "fix.frozen_tower": "Der Bildteil bleibt, wie er ist",
  "fix.fused_loss": "Liger Fused Cross-Entropy",
  "fix.fused_optimizer": "AdamW in einem Kernel",
  "fix.gradient_checkpointing": "Gradient Checkpointing",
  "fix.int8": "Die Basis in 8 Bit",
  "fix.lion": "Lion in 8 Bit",
  "fix.loss_only": "Bei der Auswertung nur den Verlust",
  "fix.lower_rank": "Kleinerer Rang",
  "fix.micro_batch": "Kleinerer Micro-Batch, mehr Akkumulation",
  "fix.nf4": "Die Basis in NF4",
  "fix.no_kbit_upcast": "Keine Umwandlung nach fp32 auf einer quantisierten Basis",
  "fix.non_reentrant_checkpointing": "Checkpointing ohne Wiedereintritt",
  "fix.reentrant_checkpointing": "Checkpointing mit Wiedereintritt",
  "fix.offloaded_checkpoints": "Behaltene Eingaben im Speicher des Rechners",
  "fix.optimizer_in_backward": "Der Optimierer im Rückwärtslauf",
  "fix.optimizer_in_host_memory": "Zustände des Optimierers im Speicher des Rechners",
  "fix.optimizer_on_cpu": "Der Optimierer im Speicher des Rechners",
  "fix.padding_free": "Ohne Auffüllen: die Beispiele eines Batches hintereinander",
  "fix.paged_eight_bit_optimizer": "AdamW in 8 Bit, ausgelagert bei Bedarf",
  "fix.paged_optimizer": "AdamW, ausgelagert bei Bedarf",
  "fix.parameters_in_host_memory": "Parameter im Speicher des Rechners",
  "fix.sharded_in_host_memory": "FSDP mit Parametern im Speicher des Rechners",
  "fix.plain_loss": "Den stückweisen Verlust abschalten",
  "fix.precomputed_reference": "Die Referenz vorab gerechnet",
  "fix.pure_bfloat16": "Alles in bfloat16",
  "fix.sdpa": "Attention in einem Kernel (SDPA)",
  "fix.sync_each_batch": "Gradienten nach jedem Mikro-Batch verteilt",
  "fix.sharded_parameters": "Alles auf die GPUs verteilt (ZeRO-3)",
  "fix.sharded_states": "Zustände und Gradienten auf die GPUs verteilt (ZeRO-2)",
  "fix.shorter": "Kürzere Sequenzen",
  "fix.vllm_memory_share": "Ein kleinerer Anteil der GPU für vLLM",
  "fix.vllm_sleep_mode": "vLLM schläft, während trainiert wird",
  "fix.shorter_completions": "Kürzere Antworten",
  "fix.sixteen_bit_adapters": "Adapter in 16 Bit",
  "fix.sixteen_bit_load": "Gewichte in 16 Bit geladen",
  "fix.smaller_eval_batch": "Kleinerer Batch bei der Auswertung",
  "fix.smaller_images": "Kleinere Bilder",

  "why.adafactor": "Summen über Zeilen und Spalten ersetzen den zweiten Zustand, einen ersten gibt es nicht.",
  "why.adapters_instead_of_full":
    "Gradienten und Zustände gibt es nur für die Adapter, weniger als 1 % der Gewichte.",
  "why.cut_cross_entropy":
    "Der Verlust wird aus Blöcken von Logits gerechnet, die den Cache der GPU nie verlassen.",
  "why.double_quantization":
    "Auch die Skalen der 4-Bit-Gewichte werden quantisiert: 0,516 statt 0,5625 Bytes je Gewicht.",
  "why.quantized_experts":
    "Transformers 5 hält die Experten einer Schicht als einen Parameter, den bitsandbytes in 16 Bit lässt; Axolotl packt ihn beim Laden.",
  "why.newer_trl":
    "Log-Wahrscheinlichkeiten kommen aus Kacheln der Logits, die im Rückwärtslauf neu entstehen, bei Präferenzen nur für die Antworten: einen Tensor aller Logits gibt es nicht.",
  "why.linear_experts":
    "Transformers 5 hält die Experten einer Schicht als einen Parameter: bitsandbytes lässt ihn in 16 Bit, und Adapter darauf entstehen in jedem Vorwärtslauf neu. Davor sind es lineare Schichten, gepackt wie die anderen.",
  "why.eight_bit_optimizer": "Beide Zustände brauchen ein Byte je Element statt vier.",
  "why.eval_accumulation":
    "Sonst sammeln sich die Logits der ganzen Auswertung bis zu deren Ende auf der GPU.",
  "why.expandable_segments":
    "PyTorch lässt seine Segmente an Ort und Stelle wachsen, so liegt weniger Reserviertes brach. Kein Tensor wird kleiner.",
  "why.fewer_images": "Jedes Bild ist ein Durchgang durch den Bildteil und Hunderte Token im Textteil.",
  "why.fewer_targets":
    "Jede Schicht mit Adapter behält ihre Eingabe und die Ausgabe des Adapters für den Rückwärtslauf.",
  "why.flash_attention":
    "Keine Maske wird gebaut und keine Bewertung geschrieben, auch wo Füllzeichen oder die Karte SDPA von seinem schnellen Kernel abhalten.",
  "why.frozen_tower": "Für den Bildteil gibt es weder Gradienten noch Zustände noch behaltene Aktivierungen.",
  "why.fused_loss":
    "Die Logits aller Token gibt es nie zugleich: Verlust und Gradient werden Stück für Stück gerechnet.",
  "why.fused_optimizer":
    "AdamW mit foreach kopiert beim Schritt alle trainierten Parameter noch einmal; der eine Kernel kopiert nichts.",
  "why.gradient_checkpointing":
    "Nur die Eingabe jeder Schicht wird für den Rückwärtslauf behalten, der Rest dort neu gerechnet.",
  "why.int8": "Eingefrorene Gewichte brauchen 1 Byte statt 2.",
  "why.lion": "Ein Zustand von einem Byte statt zweier von vier.",
  "why.loss_only": "Logits werden nicht gesammelt.",
  "why.lower_rank":
    "Adapter, ihre Gradienten und Zustände schrumpfen mit dem Rang; alpha bleibt im Verhältnis.",
  "why.micro_batch":
    "Aktivierungen und Logits wachsen mit dem Micro-Batch; der Gradient eines Schritts wird über mehr davon summiert.",
  "why.nf4": "Eingefrorene Gewichte brauchen 0,52 Bytes statt 2; entpackt wird Schicht für Schicht.",
  "why.no_kbit_upcast":
    "prepare_model_for_kbit_training wandelt Einbettung, Kopf und Normen nach fp32 um, und mit ihnen jeden Tensor zwischen den Schichten.",
  "why.non_reentrant_checkpointing":
    "Das Neurechnen hört beim letzten gebrauchten Tensor auf und hält die Ausgabe der Schicht nicht.",
  "why.reentrant_checkpointing":
    "Eine 8-Bit-Basis behält, was ihre Schichten lesen, es sei denn, der erste Vorwärtslauf läuft ohne Graphen.",
  "why.offloaded_checkpoints":
    "Mit Checkpointing bleiben nur die Eingaben der Schichten; sie warten im Speicher des Rechners und kommen einzeln zurück.",
  "why.optimizer_in_backward":
    "Jeder Parameter macht seinen Schritt, sobald sein Gradient da ist, der dann frei wird: alle zugleich gibt es nie.",
  "why.optimizer_in_host_memory":
    "Hauptgewichte und Zustände liegen im Speicher des Rechners, und der Prozessor macht den Schritt.",
  "why.optimizer_on_cpu":
    "Zustände, und mit ausgelagerten Gradienten auch diese, liegen im Speicher des Rechners; der Prozessor macht den Schritt.",
  "why.padding_free":
    "Neben dem längsten Beispiel liegen die anderen so lang, wie sie sind, statt mit Füllzeichen bis zu ihm; Flash Attention hält sie auseinander.",
  "why.paged_eight_bit_optimizer":
    "Zustände von einem Byte, in Speicher, der in den Rechner ausweicht, wenn die Karte voll ist.",
  "why.paged_optimizer":
    "Die Zustände liegen in Speicher, der in den Rechner ausweicht, wenn die Karte voll ist.",
  "why.parameters_in_host_memory":
    "Gewichte, Gradienten und Zustände liegen im Speicher des Rechners; jede Schicht kommt über PCIe, wenn sie läuft.",
  "why.sharded_in_host_memory":
    "Jede GPU hält ihren Teil der Gewichte, Gradienten und Zustände im Speicher des Rechners; eine Schicht kommt über PCIe, wenn sie läuft.",
  "why.plain_loss":
    "Bei wenigen Token kostet der stückweise Verlust Speicher: er hält den ganzen Kopf in fp32.",
  "why.precomputed_reference":
    "Die Referenz bewertet die Daten einmal vor dem Training und wird dann freigegeben: kein zweites Modell, kein zweiter Vorwärtslauf.",
  "why.pure_bfloat16": "Gewichte, Gradienten und Zustände brauchen 2 Bytes statt 4.",
  "why.sdpa":
    "Eager Attention hält für jeden Kopf Länge mal Länge Bewertungen; die Kernel von PyTorch schreiben sie nie.",
  "why.sync_each_batch":
    "Jede GPU behält ihren Anteil der Gradienten statt aller bis zum letzten Mikro-Batch; zwischen den Karten wird mehr gesendet.",
  "why.sharded_parameters":
    "Jede GPU behält ihren Teil der Gewichte, Gradienten und Zustände; eine Schicht wird geholt, während sie läuft.",
  "why.sharded_states": "Jede GPU behält ihren Teil der Zustände und Gradienten statt aller.",
  "why.vllm_memory_share":
    "vLLM nimmt seinen Anteil beim Start und füllt mit Cache, was seine Gewichte übrig lassen; das Training bekommt den Rest.",
  "why.vllm_sleep_mode":
    "Zwischen den Generierungen warten die Gewichte von vLLM im Arbeitsspeicher und sein Cache wird frei: Das Training hat die ganze Karte.",
  "why.shorter_completions":
    "Aktivierungen und Logits wachsen mit der Antwort, und ebenso der Cache, während sie geschrieben wird.",
  "why.shorter": "Aktivierungen und Logits wachsen mit der Länge; was darüber liegt, wird abgeschnitten.",
  "why.sixteen_bit_adapters": "Adapter, ihre Gradienten und Zustände brauchen die Hälfte.",
  "why.sixteen_bit_load":
    "Eine eingefrorene Basis in fp32 braucht doppelt so viel, und Autocast kopiert sie noch einmal in 16 Bit.",
  "why.smaller_eval_batch":
    "Die Auswertung behält keine Aktivierungen, aber ganze Logits: sie wachsen mit ihrem eigenen Batch.",
  "why.smaller_images":
    "Der Bildteil und, wo die Zahl der Token mit dem Bild wächst, auch der Textteil sehen weniger Token.",

  "cause.host_ram": "Der Speicher des Rechners ging aus",
  "cause.driver_level_oom": "Der Treiber lehnte ab, ohne Zahlen zu nennen",
  "cause.library_workspace_alloc": "Eine Bibliothek konnte sich nicht einrichten",
  "cause.nccl_buffers": "NCCL fand keinen Platz für seine Puffer",
  "cause.bnb_paged_managed_memory": "Auslagerbarer Speicher wurde verweigert",
  "cause.mps_watermark": "Die Obergrenze von Metal ist erreicht",
  "cause.jax_preallocation": "JAX hatte sich seinen Teil schon genommen",
  "cause.vllm_kv_cache": "Der Cache von vLLM fasst keine längste Sequenz",
  "cause.kernel_shared_memory": "Ein Kernel will mehr Speicher auf dem Chip, als diese Karte hat",
  "cause.single_giant_tensor": "Ein Tensor von einer Größe, die nichts braucht",
  "cause.capacity_misreported": "Die Software sieht weniger Speicher, als die Karte hat",
  "cause.sentinel_process_memory": "Der Treiber kann den Speicher niemandem zuordnen",
  "cause.windows_sysmem_fallback": "Windows lagerte aus oder begrenzt den Prozess",
  "cause.other_process": "Ein anderes Programm belegt einen Teil der Karte",
  "cause.fragmentation": "Freie Blöcke, aber keiner groß genug",
  "cause.single_gpu_used": "Nur eine der Karten wird benutzt",
  "cause.hardware_fallback": "Der Karte fehlen die Kernel",
  "cause.dora_overhead": "DoRA hält Matrizen, so groß wie die Gewichte",
  "cause.merge_peak": "Das Zusammenführen braucht eine zweite Kopie",
  "cause.resume_or_save_peak": "Sichern oder Fortsetzen holt zusammen, was verteilt war",
  "cause.eval_accumulates_logits": "Die Auswertung behält alle Logits",
  "cause.optimizer_foreach_temporary": "Der Optimierer hält für alle Parameter zugleich eine Liste mehr",
  "cause.optimizer_states_first_step": "Die Zustände des Optimierers gab es vorher nicht",
  "cause.dequantisation_temporary": "Ein quantisiertes Gewicht wurde zum Rechnen entpackt",
  "cause.kbit_upcast": "Die Vorbereitung auf wenige Bit wandelt nach fp32 um",
  "cause.dequantised_base": "Für das Format des Checkpoints gibt es keinen Kernel zum Trainieren",
  "cause.bnb_not_applied": "Die Basis ist doch nicht quantisiert",
  "cause.fp32_by_mistake": "Die Gewichte liegen in fp32",
  "cause.load_peak": "Beim Laden gibt es eine zweite Kopie",
  "cause.sharding_load_peak": "Jeder Rang hält vor dem Verteilen das ganze Modell",
  "cause.replicated_not_sharded": "Jede Karte hält das ganze Modell",
  "cause.packing_interaction": "Aneinandergereihte Sequenzen vergrößern den Arbeitsspeicher der Attention",
  "cause.eager_attention_quadratic": "Die Attention wächst mit dem Quadrat der Länge",
  "cause.vision_tokens": "Aus Bildern werden Tausende Token",
  "cause.logits_peak": "Logits über ein großes Vokabular",
  "cause.embedding_tensor": "Die Einbettungsmatrix am Stück",
  "cause.vllm_colocate": "Die Maschine, die Antworten erzeugt, teilt sich die Karte",
  "cause.dpo_reference_model": "Modell, Referenz und zwei Antworten",
  "cause.pairwise_doubles_batch": "Zwei oder mehr Sequenzen je Beispiel",
  "cause.modules_to_save": "Einbettung und Kopf werden voll trainiert",
  "cause.checkpointing_not_active": "Gradient Checkpointing ist aus",
  "cause.long_outlier_sequences": "Ein langes Beispiel kam an die Reihe",
  "cause.growth_over_steps": "Der Verbrauch wächst von Schritt zu Schritt",
  "cause.regression_in_library": "Mit einer anderen Version passte es",
  "cause.wrong_method_flag": "Es läuft eine andere Methode als die gemeinte",
  "cause.adapters_large_or_fp32": "Die Adapter selbst sind groß",
  "cause.does_not_fit_at_all": "Das Modell passt mit dieser Methode nicht auf die Karte",
  "cause.batch_or_sequence_too_large": "Zu viele Token in einem Micro-Batch",
  "cause.qlora_not_smaller": "Vier Bit sparen nur an den Gewichten",
  "cause.estimate_missing_terms": "Die Schätzung, der geglaubt wurde, ließ etwas aus",
  "cause.adapters_save_little": "Adapter sparen nur Gradienten und Zustände",

  "way.larger_gpu": "Eine größere GPU",
  "way.rented_machine": "Eine gemietete Maschine",
  "way.more_gpus": "Mehr von derselben GPU",
  "way.packing": "Kurze Beispiele in vollen Zeilen",
  "way.with_adapters": "Adapter statt aller Gewichte",
  "way.with_unsloth": "Derselbe Lauf mit Unsloth",
  "way.smaller_model": "Ein kleineres Modell der Familie",

  "note.max_memory_is_no_training_limit": "max_memory begrenzt das Laden, nicht das Training.",
  "note.optimizer_copies": "Der Schritt des Optimierers kopiert alle trainierten Parameter auf einmal.",
  "note.accumulation_carries_gradients":
    "Beim Akkumulieren liegen die Gradienten bei jedem Vorwärtslauf schon da.",
  "note.longest_sample_unknown": "Der längste Beispieltext ist nicht bekannt.",
  "note.rank_may_take_less": "Ein höherer Rang kann hier weniger brauchen.",
  "note.size_may_take_less":
    "Ein Beispiel oder Token mehr kann hier weniger brauchen: kleine Tensoren werden anders behandelt.",
  "note.rank_costs": "Dieser Rang kostet spürbar Speicher.",
  "note.targets_not_found": "Einige Zielmodule gibt es in diesem Modell nicht.",
  "note.weights_in_fp32": "Die eingefrorene Basis liegt in fp32, doppelt so groß wie nötig.",
  "note.kbit_preparation_upcasts":
    "prepare_model_for_kbit_training lässt Einbettung, Kopf und Normen in fp32.",
  "note.eight_bit_keeps_inputs":
    "Eine 8-Bit-Basis hält unter nicht-reentranten Checkpoints die Eingaben jeder Schicht; use_reentrant true gibt sie frei.",
  "note.kept_in_fp32":
    "Dieser Stack hält Einbettung, Kopf und Normen in fp32, und damit jede Schichtgrenze, außer mit flash attention oder cut cross-entropy.",
  "note.not_replayed":
    "Für diesen Chip gibt es kein Urteil: gezählt wird, was CUDA braucht, und Metal rechnet anders. macOS lässt der GPU etwa drei Viertel des Speichers, bis 32 GB zwei Drittel.",
  "note.no_bf16": "Diese Karte rechnet nicht in bfloat16; fp16 ist hier richtig.",
  "note.no_flash_attention": "Das Paket flash-attn läuft auf dieser Karte nicht; sdpa ist hier richtig.",
  "note.sdpa_without_flash": "SDPA nimmt hier einen anderen Kernel.",
  "note.max_split_size_is_no_cure": "max_split_size_mb hilft nur gegen Zerstückelung.",
  "note.chunked_loss_costs": "Bei so wenigen Token kostet der stückweise Verlust mehr, als er spart.",
  "note.images_are_cut":
    "Der Prozessor zerlegt jedes Bild in Kacheln, die der Bildturm einzeln liest und die im Text Tokens sind.",
  "note.image_tokens_fill_the_length": "Schon die Bilder eines Beispiels sind länger als max_length.",
  "note.paged_states": "Zustände des Optimierers liegen in auslagerbarem Speicher.",
  "note.dora_is_approximate": "DoRA ist noch an keinem gemessenen Lauf geprüft.",
  "note.experts_get_adapters":
    "PEFT behandelt die Experten einer Schicht als einen Parameter und baut ihre Gewichte in jedem Vorwärtslauf neu, vor PEFT 0.19 in einer Schleife sogar für jeden Experten einmal.",
  "note.refused": "Eine Bibliothek bricht diesen Lauf mit einer Fehlermeldung ab.",
  "note.stacked_adapters_refused":
    "PEFT bricht sofort ab: Adapter auf gestapelten Experten vertragen weder lora_dropout noch DoRA noch lora_bias, und gate und up gehören zusammen.",
  "note.parameters_not_found":
    "Zu einigen target_parameters wird nichts gerechnet: nur gestapelte Experten werden nachgespielt.",
  "note.experts_are_approximate": "Experten sind gerechnet, als verteilten sich die Token gleichmäßig.",
  "note.experts_not_quantised":
    "Die Experten bleiben unquantisiert: die einer Schicht sind ein Parameter, den bitsandbytes nicht sieht. Vor Transformers 5 sind sie Lineare; für gpt-oss setzt Unsloth Lineare an ihre Stelle.",
  "note.delta_net_kernels":
    "Die lineare Attention ist so nachgestellt, wie flash-linear-attention und causal-conv1d sie rechnen; ohne diese Pakete behält PyTorch zwei- bis fünfmal so viel.",
  "note.unsloth_in_fp32":
    "Auf Karten ohne bfloat16 rechnet Unsloth dieses Modell zum Teil in fp32; das ist nicht nachgestellt, und die Spanne ist breiter.",
  "note.state_space_kernels":
    "Mamba-Schichten sind mit den Kerneln von mamba_ssm gerechnet; ohne sie hält Transformers viel mehr (model_args.kernels).",
  "note.streams_are_approximate": "Von den vier Strömen in Gemma 3n ist einer gerechnet.",
  "note.encoder_decoder_is_approximate": "Modelle mit Encoder und Decoder sind noch an keinem Lauf geprüft.",
  "note.vision_is_approximate": "Der Bildteil ist noch an keinem genau beschriebenen Lauf geprüft.",
  "note.shared_over_one_gpu":
    "Dieser Lauf teilt das Modell auf GPUs auf, und mit einer, die alles hält, ist nichts zu teilen. Sagen Sie, wie viele zusammen trainieren, wenn es mehr sind.",
  "note.memory_is_of_one_rank": "Alle Größen gelten für eine der GPUs.",
  "note.fsdp_keeps_boundaries": "FSDP behält hier die Eingabe jeder Schicht bis zum Ende des Rückwärtslaufs.",
  "note.no_sync_keeps_whole_gradients": "Beim Akkumulieren hält FSDP die Gradienten ganz auf jeder GPU.",
  "note.sync_each_batch_ignored": "sync_each_batch wirkt in diesem Release nicht.",
  "note.zero_buckets": "Die Puffer von DeepSpeed sind groß; sie lassen sich verkleinern.",
  "note.layers_are_spread": "device_map verteilt die Schichten auf mehrere GPUs, die nacheinander arbeiten.",
  "note.beyond_context": "Der Kontext dieses Modells endet vor dieser Länge.",
  "note.unified_memory":
    "Diese Karte teilt sich den Speicher mit dem System: Was dieses belegt, fehlt dem Lauf, und Auslagern in den RAM spart nichts.",
  "note.nvme_as_host_memory":
    "Das Auslagern auf NVMe ist nicht berechnet: Karte und RAM sind gezählt, als läge es im RAM, und die Zeit ohne die Platte.",
  "note.sequence_is_shared": "Jede GPU hält ihren Teil jeder Sequenz.",
  "question.when": "Wann brach es ab?",
  "choice.load": "Beim Laden oder Vorbereiten des Modells",
  "choice.once": "Im ersten Schritt, auch mit Micro-Batch 1 und 512 Token",
  "choice.first": "Im ersten Schritt; weniger oder kürzere Beispiele laufen",
  "choice.later": "Nach Schritten, die liefen",
  "choice.growing": "Der Verbrauch wuchs, bis es nicht mehr ging",
  "choice.eval": "In der Evaluation",
  "choice.save": "Beim Speichern oder Fortsetzen",
  "choice.merge": "Beim Zusammenführen oder Exportieren der Adapter",
  "choice.rollout": "Beim Erzeugen der Antworten (GRPO, PPO)",
  "choice.ram": "Der Arbeitsspeicher des Rechners lief voll, oder der Prozess wurde beendet",
  "choice.update": "Seit einer neuen Version der Bibliotheken; vorher lief es",
  "choice.other": "Etwas anderes, oder ich weiß es nicht",
  "question.method": "Was wird trainiert?",
  "choice.full": "Alle Parameter (volles Fine-Tuning)",
  "choice.adapters": "Nur Adapter (LoRA, QLoRA)",
  "question.others": "Belegte vor dem Start schon ein anderes Programm Speicher der Karte?",
  "choice.yes": "Ja, etwas anderes benutzte sie",
  "choice.no": "Nein, sie war leer",
  "question.cards": "Wie teilen sich die Karten das Modell?",
  "choice.copies": "Jede hält das ganze Modell (DDP, ZeRO-1 oder -2, torchrun ohne FSDP)",
  "choice.sharded": "Die Gewichte sind aufgeteilt (FSDP, ZeRO-3)",
  "choice.one": "Nur eine Karte wird benutzt",
  "note.unknown_activation": "Die Aktivierungsfunktion ist unbekannt; gerechnet ist sie wie gelu.",
  "note.approximate_attention": "Von der Attention dieses Modells ist nicht jeder Teil nachgestellt.",
  "note.model_by_name": "Das Modell ist an Teilen seines Namens erkannt.",
  "note.unconfirmed_shapes": "Keine veröffentlichte Parameterzahl bestätigt die Formen dieses Modells.",
  "note.packed_checkpoint": "Der Checkpoint ist schon quantisiert.",
  "note.dynamic_checkpoint":
    "Dieser Checkpoint lässt einige lineare Schichten in 16 Bit; seine config.json nennt sie unter llm_int8_skip_modules.",
};

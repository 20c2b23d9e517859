// German: what helps against each cause of a failure (core/diagnosis/causes).
export const REMEDIES: Record<string, string> = {
  "remedy.regression_in_library": "Die Versionen vergleichen; die festhalten, mit der es passte.",
  "remedy.wrong_method_flag": "print_trainable_parameters() ansehen und den Schalter der Methode.",
  "remedy.adapters_large_or_fp32":
    "Kleinerer Rang oder weniger Zielmodule, Adapter in 16 Bit, ein Optimierer in 8 Bit.",
  "remedy.does_not_fit_at_all":
    "Adapter, eine quantisierte Basis, auf mehrere Karten verteilen, Auslagern oder eine größere Karte.",
  "remedy.batch_or_sequence_too_large":
    "Halber Micro-Batch bei doppelter Akkumulation, kürzere Beispiele, Checkpointing, ein Loss in einem Kernel.",
  "remedy.qlora_not_smaller": "Weniger Token, nicht weniger Bit.",
  "remedy.adapters_save_little": "Weniger Token, oder Gradient Checkpointing.",
  "remedy.estimate_missing_terms": "Mit den Bestandteilen des Berichts vergleichen.",
  "remedy.host_ram":
    "Nur auf einem Rang laden (low_cpu_mem_usage, von Rang 0 verteilen), weniger auslagern, die Grenze des Containers heben, weniger Worker. An der GPU hilft nichts.",
  "remedy.driver_level_oom":
    "Vor dem Start nvidia-smi ansehen; beenden, was die Karte belegt; dann einmal mit CUDA_LAUNCH_BLOCKING=1 laufen lassen.",
  "remedy.library_workspace_alloc":
    "0,5 bis 1 GiB frei lassen: kleinerer Batch oder torch.cuda.set_per_process_memory_fraction(0.95).",
  "remedy.nccl_buffers": "1 bis 2 GiB frei lassen, weniger Prozessgruppen, NCCL_BUFFSIZE kleiner.",
  "remedy.bnb_paged_managed_memory":
    "adamw_8bit oder adamw_bnb_8bit statt des auslagernden Optimierers nehmen.",
  "remedy.mps_watermark":
    "Andere Programme schließen, kleinerer Batch oder kürzere Beispiele, Gewichte in 16 Bit; PYTORCH_MPS_HIGH_WATERMARK_RATIO hebt die Grenze, mit der Gefahr, dass ausgelagert wird.",
  "remedy.jax_preallocation":
    "XLA_PYTHON_CLIENT_MEM_FRACTION=0.95 (oder PREALLOCATE=false), und beenden, was sonst die Karte belegt.",
  "remedy.vllm_kv_cache": "Ein kleineres max_model_len, eine höhere gpu_memory_utilization oder mehr Karten.",
  "remedy.kernel_shared_memory":
    "Ein anderer Kernel (attn_implementation sdpa, Liger oder Unsloth aus), kleinere Blöcke oder weniger Stufen, oder eine Karte mit mehr davon: 99 KiB auf Karten für Verbraucher, 163 KiB auf der A100, 227 KiB auf der H100.",
  "remedy.single_giant_tensor":
    "Auf die Länge der Daten kürzen; die Formen ansehen, die in die Zeile eingehen, die scheitert.",
  "remedy.capacity_misreported":
    "Die Aufteilung (BIOS, Parameter des Kernels), die Version der Laufzeit und nvidia-smi oder rocm-smi prüfen.",
  "remedy.sentinel_process_memory":
    "Diese Zahl nicht beachten; das Belegte mit der Karte vergleichen und die Spitze darunter bringen.",
  "remedy.windows_sysmem_fallback":
    "Das Ausweichen des Treibers in den Arbeitsspeicher abschalten, die Auslagerungsdatei vergrößern oder unter Linux laufen lassen.",
  "remedy.other_process":
    "Es beenden (nvidia-smi, fuser -v /dev/nvidia*), mit CUDA_VISIBLE_DEVICES eine andere Karte wählen oder es von der Karte abziehen.",
  "remedy.fragmentation":
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True gibt höchstens den Verschnitt zurück.",
  "remedy.single_gpu_used":
    "Mit torchrun oder accelerate starten oder device_map setzen; CUDA_VISIBLE_DEVICES ansehen.",
  "remedy.hardware_fallback": "Eine andere Karte, oder Gewichte in 4 Bit mit fp16.",
  "remedy.packing_interaction":
    "Kürzer packen, oder Batches ohne Auffüllen (padding-free) aus weniger Beispielen.",
  "remedy.eager_attention_quadratic":
    "attn_implementation sdpa oder flash_attention_2; auf alten Karten kürzere Beispiele.",
  "remedy.vision_tokens":
    "max_pixels, weniger Bilder oder Frames, ein eingefrorener Bildteil mit Checkpointing.",
  "remedy.logits_peak":
    "Ein Loss, der nicht alle Logits hält (Liger, chunked_nll, Unsloth), oder weniger Token je Micro-Batch.",
  "remedy.embedding_tensor":
    "Die Gewichte selbst passen hier nicht: ein kleinerer Datentyp oder eine Karte für sich allein.",
  "remedy.vllm_colocate":
    "Eine kleinere vllm_gpu_memory_utilization, der Schlafmodus, oder vLLM auf eigenen Karten.",
  "remedy.dpo_reference_model":
    "Adapter mit ref_model=None, precompute_ref_log_probs, ein Preference-Loss in einem Kernel, halber Batch.",
  "remedy.pairwise_doubles_batch": "Der halbe Batch für denselben Speicher.",
  "remedy.modules_to_save": "Sie weglassen, oder trainable_token_indices für neue Token.",
  "remedy.checkpointing_not_active":
    "gradient_checkpointing=true (bei Adaptern mit use_reentrant=false und enable_input_require_grads).",
  "remedy.long_outlier_sequences":
    "Kürzen (max_length), oder nach Länge gruppieren und den längsten Batch zuerst probieren.",
  "remedy.growth_over_steps":
    "loss.item() statt loss, keine Ausgaben behalten; ein Memory Snapshot zeigt, wer sie hält.",
  "remedy.dora_overhead": "use_dora=false, oder Gradient Checkpointing, oder weniger Zielmodule.",
  "remedy.merge_peak": "Auf der CPU zusammenführen, oder Schicht für Schicht.",
  "remedy.resume_or_save_peak":
    'Verteilt sichern oder mit offload_to_cpu; mit map_location="cpu" laden; den Checkpoint nach dem Laden löschen.',
  "remedy.eval_accumulates_logits":
    "Ein kleinerer per_device_eval_batch_size; prediction_loss_only=true, oder eval_accumulation_steps=1 mit preprocess_logits_for_metrics.",
  "remedy.optimizer_foreach_temporary": "optim=adamw_torch_fused, oder foreach=False.",
  "remedy.optimizer_states_first_step":
    "Ein Optimierer in 8 Bit oder ein auslagernder, Adapter, oder verteilte Zustände (ZeRO); Gewichte in 16 Bit, wo sie in fp32 liegen, denn die Zustände haben deren Typ.",
  "remedy.dequantisation_temporary":
    "Es nennt nur den Augenblick: die Karte war voll. Was bleibt, muss kleiner werden: Batch, Länge, Checkpointing.",
  "remedy.kbit_upcast":
    "Das Umwandeln bei der Vorbereitung lassen (nur Norms in fp32), Einbettungen in 16 Bit behalten.",
  "remedy.dequantised_base":
    "Eine Fassung des Modells für bitsandbytes, oder eine Karte, die zwei Byte je Parameter fasst.",
  "remedy.bnb_not_applied":
    "BitsAndBytesConfig an from_pretrained geben; model.get_memory_footprint() ausgeben.",
  "remedy.fp32_by_mistake": 'torch_dtype=torch.bfloat16 (dtype="bfloat16") in from_pretrained.',
  "remedy.load_peak": "low_cpu_mem_usage=True, ein device_map, safetensors.",
  "remedy.sharding_load_peak":
    "Auf dem Meta-Device anlegen: fsdp_cpu_ram_efficient_loading mit sync_module_states, zero.Init bei ZeRO-3.",
  "remedy.checkpointing_ignored":
    "model.gradient_checkpointing_enable(), danach muss model.is_gradient_checkpointing True sein und model.training auch; bei Adaptern model.enable_input_require_grads(); use_cache=False; use_reentrant=False. Ein Traceback des Rückwärtslaufs zeigt dann checkpoint.py.",
  "remedy.quantization_ignored":
    "quantization_config=BitsAndBytesConfig(load_in_4bit=True) an from_pretrained selbst; bei Experten ein schon quantisierter Checkpoint, Unsloths Lader oder Transformers 4. model.get_memory_footprint() mit einem halben Byte je Parameter vergleichen.",
  "remedy.sharding_ignored":
    "fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP mit der Klasse der Schicht; ZeRO-3 in der Datei, die der Launcher bekommt, mit HfDeepSpeedConfig vor from_pretrained; ein Prozess je Karte (WORLD_SIZE muss ihre Zahl sein).",
  "remedy.wrapping_ignored":
    "fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP und transformer_layer_cls_to_wrap.",
  "remedy.stage_ignored":
    "ZeRO-3 in der Datei, die der Launcher bekommt, mit HfDeepSpeedConfig vor from_pretrained.",
  "remedy.attention_kernel_ignored":
    'attn_implementation="sdpa" auf T4, V100 oder älter (deren speichersparender Weg läuft dort); output_attentions=False; in den ersten Zeilen des Logs nach dem Wort fallback suchen.',
  "remedy.loss_kernel_ignored":
    "compute_loss und label_smoothing_factor dem Trainer überlassen, oder darin LigerFusedLinearCrossEntropyLoss auf die Hidden States anwenden; prediction_loss_only=true bei der Auswertung.",
  "remedy.dtype_ignored": 'dtype="bfloat16" (torch_dtype vor Transformers 4.56) in from_pretrained.',
  "remedy.release_differs":
    "In der Konfiguration zurücknehmen, was die neuere Version geändert hat, oder die festhalten, mit der es passte.",
  "remedy.release_same":
    "Vergleichen, was mit dem Update kam: pip list vorher und nachher, Konfiguration, Daten; oder die Version festhalten, mit der es passte.",
  "remedy.length_ignored": "Die Daten selbst kürzen, und die längsten input_ids eines Batches ausgeben.",
  "remedy.gathered_at_save":
    "fsdp_state_dict_type SHARDED_STATE_DICT, oder StateDictOptions(full_state_dict=True, cpu_offload=True); bei ZeRO-3 stage3_gather_16bit_weights_on_model_save=false und danach zero_to_fp32.py.",
  "remedy.shared_memory":
    "docker run --shm-size=16g (oder --ipc=host), in Kubernetes ein emptyDir mit medium: Memory; oder weniger Worker für Daten. Weder die GPU noch die Platte ist voll.",
  "remedy.ray":
    "Mehr RAM oder weniger Akteure je Knoten; kein Schlafmodus und kein Auslagern; einen nach dem anderen laden. RAY_memory_usage_threshold verschiebt nur die Grenze.",
  "remedy.dataset_workers":
    "Kleineres num_proc (preprocessing_num_workers) und writer_batch_size, einmal tokenisieren und sichern, oder die Daten streamen. Die GPU spielt keine Rolle.",
  "remedy.wsl":
    "memory= und swap= unter [wsl2] in %UserProfile%\\.wslconfig, dann wsl --shutdown; oder eine kleinere Spitze beim Laden (safetensors, low_cpu_mem_usage).",
  "remedy.wsl_driver":
    "Die Karte in Windows freimachen (Task-Manager), pin_memory=False und kein Auslagern in gepinnten oder seitenweisen Speicher, dann wsl --shutdown und der neueste Windows-Treiber.",
  "remedy.offload":
    "16 bis 18 Byte je Parameter mit dem RAM des Knotens vergleichen; mehr Knoten, NVMe statt cpu, Adapter oder pin_memory=false.",
  "remedy.every_rank_loads":
    "fsdp_cpu_ram_efficient_loading mit fsdp_sync_module_states, die Initialisierung von ZeRO-3 (HfDeepSpeedConfig), low_cpu_mem_usage=True.",
  "remedy.weights_beyond_ram":
    "Ein Checkpoint in mehreren safetensors-Dateien mit low_cpu_mem_usage=True (oder device_map), ein schon quantisierter, ein kleineres Modell oder ein Rechner mit mehr RAM.",
  "remedy.loader_workers":
    "dataloader_num_workers 2 bis 4, ein kleinerer prefetch_factor und ein Datensatz, der in einer Datei (Arrow) liegt und nicht in Python-Listen.",
  "remedy.windows_commit":
    "Eine größere Auslagerungsdatei (System, Erweitert, Leistung, Virtueller Arbeitsspeicher: ein- bis zweimal der RAM), dataloader_num_workers=0, andere Programme schließen. Die Karte ist nicht voll.",
  "remedy.hsa_resources":
    "rocm-smi --showmeminfo vram während des Laufs, und beenden, was die Karte sonst belegt; dann ein kleinerer Batch oder ein kleineres Modell. Ist die Karte halb leer: free -g und ulimit -u am Rechner; vom ersten Aufruf an, auch in rocminfo: die Gruppen render und video.",
  "remedy.shared_gpu_memory":
    "Den Lauf unter den eigenen Speicher der Karte bringen; um den Fehler wieder zu sehen: NVIDIA-Systemsteuerung, CUDA - Sysmem Fallback Policy, prefer no sysmem fallback.",
  "remedy.jax_share":
    "XLA_PYTHON_CLIENT_PREALLOCATE=false oder XLA_PYTHON_CLIENT_MEM_FRACTION=0.2, bevor jax importiert wird.",
  "remedy.vllm_share_not_free":
    "Ein kleineres gpu_memory_utilization (in TRL vllm_gpu_memory_utilization), oder beenden, was die Karte belegt (nvidia-smi).",
  "remedy.dispatched_to_cpu":
    'Die Karte freimachen (nvidia-smi), ein kleineres Modell oder eine größere Karte; mit device_map={"": 0} steht in der Meldung, wie viel fehlt. llm_int8_enable_fp32_cpu_offload ist zum Anwenden da.',
  "remedy.vllm_share":
    "Kleinere gpu_memory_utilization oder --kv-cache-memory-bytes; max_model_len allein senkt es nicht.",
  "remedy.metal_working_set":
    "sudo sysctl iogpu.wired_limit_mb=..., dem System einige 8 GB lassen; oder kleinerer Batch, kürzere Beispiele, eine quantisierte Basis.",
  "remedy.replicated_not_sharded":
    "ZeRO-3 oder FSDP mit einer nicht quantisierten Basis, FSDP mit quantisierter Ablage, oder ein Modell, das auf eine Karte passt.",
  "contradicts.at_rest":
    "Laut Anfrage sind vor dem ersten Schritt {expected} belegt; als ein Schritt scheiterte, waren es nur {shown}.",
  "contradicts.at_most":
    "Laut Anfrage belegt dieser Lauf höchstens {expected}; als er scheiterte, waren es {shown}.",
  "contradicts.at_least":
    "Laut Anfrage sind dort, wo er scheiterte, mindestens {expected} belegt; es waren aber nur {shown}.",
  "explains.smaller":
    "Es lief eine andere Konfiguration: ein kleineres Modell, Gewichte in weniger Bits oder über die Karten verteilte Gewichte.",
  "explains.larger":
    "Es lief eine andere Konfiguration, eine Einstellung wirkte nicht, oder ein Beispiel war länger als angegeben (Bilder und ihre Token mitgezählt).",
  "explains.shorter": "Es lief eine andere Konfiguration, oder die Beispiele waren kürzer als angegeben.",
  "explains.checkpointed": "Gradient Checkpointing war an: damit passt, was die Meldung sagt.",
  "explains.other": "Es lief eine andere Konfiguration.",
};

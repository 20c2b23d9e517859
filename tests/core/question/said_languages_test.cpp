// Settings in the languages that people ask in: what is off, and which number is which.
#include "core/question/said_languages.h"

#include <gtest/gtest.h>

#include "core/question/said_request.h"
#include "tests/core/question/said.h"

namespace plimsoll::question {
namespace {

constexpr const char* checkpointed = "/training/gradient_checkpointing";

TEST(SaidLanguages, WhatIsDeniedIsOffInEachLanguage) {
  for (const char* text : {
           "J'entraîne Llama 3.1 8B avec LoRA sans gradient checkpointing sur une RTX 4090. Ça passe ?",
           "LoRA de Llama 3.1 8B sur une RTX 4090, gradient checkpointing désactivé. Ça passe ?",
           "LoRA de Llama 3.1 8B, le gradient checkpointing est désactivé",
           "LoRA de Llama 3.1 8B en una RTX 4090 sin gradient checkpointing, ¿cabe?",
           "LoRA de Llama 3.1 8B, gradient checkpointing desactivado",
           "LoRA de Llama 3.1 8B, gradient checkpointing está desactivada",
           "LoRA di Llama 3.1 8B su una RTX 4090 senza gradient checkpointing, ci sta?",
           "LoRA di Llama 3.1 8B, gradient checkpointing disattivato",
           "LoRA do Llama 3.1 8B numa RTX 4090 sem gradient checkpointing, cabe?",
           "LoRA do Llama 3.1 8B, gradient checkpointing desativado",
           "LoRA für Llama 3.1 8B, Gradient Checkpointing deaktiviert",
           "LoRA für Llama 3.1 8B, Gradient Checkpointing ist nicht aktiviert",
           "LoRA Llama 3.1 8B на RTX 4090 без gradient checkpointing, хватит?",
           "LoRA Llama 3.1 8B, gradient checkpointing отключен",
           "Без градиентного чекпоинтинга LoRA Llama 3.1 8B на RTX 4090",
           "Llama 3.1 8BのLoRA、gradient checkpointingなし、RTX 4090で足りますか？",
           "Llama 3.1 8BのLoRA、gradient checkpointingを使わない場合、RTX 4090で足りますか？",
           "Llama 3.1 8BのLoRA、勾配チェックポイントは無効です",
           "Llama 3.1 8B LoRA, gradient checkpointing 없이 RTX 4090에서 가능한가요?",
           "LoRA Llama 3.1 8B 4090 no grad ckpt",
           "LoRA Llama 3.1 8B 4090 no gc",
           "LoRA Llama 3.1 8B 4090 w/o gradient checkpointing",
           "LoRA of Llama 3.1 8B on a 4090, gradient checkpointing is turned off",
       }) {
    EXPECT_EQ(value_of(text, checkpointed), "false") << text;
  }
}

TEST(SaidLanguages, WhatIsOnIsNotDeniedByAWordNearby) {
  for (const char* text : {
           "LoRA de Llama 3.1 8B, je plante au premier pas avec gradient checkpointing",
           "LoRA Llama 3.1 8B, gradient checkpointing включен, без flash attention",
           "Llama 3.1 8BのLoRA、量子化なし、gradient checkpointing有効",
           "LoRA do Llama 3.1 8B, sem quantização, gradient checkpointing ligado",
           "LoRA Llama 3.1 8B 4090 with gc",
       }) {
    EXPECT_EQ(value_of(text, checkpointed), "true") << text;
  }
  EXPECT_EQ(value_of("import gc; gc.collect() in LoRA of Llama 3.1 8B", checkpointed), "");
}

TEST(SaidLanguages, QuantisationAdaptersAndOffloadAreDeniedAlike) {
  EXPECT_EQ(value_of("LoRA de Llama 3.1 8B sans 4 bits, RTX 4090", "/quantization/load_in_4bit"), "");
  EXPECT_EQ(value_of("LoRA de Llama 3.1 8B sin flash attention", "/model_args/attn_implementation"), "");
  EXPECT_EQ(value_of("Full fine-tuning di Llama 3.1 8B con ZeRO-3 senza offload su 2 A100",
                     "/parallel/zero_optimization/offload_optimizer/device"),
            "");
  EXPECT_EQ(value_of("Llama 3.1 8B: full fine-tuning, senza LoRA", "/peft"), "");
}

// Left on the card it was, and nobody said so.
TEST(SaidLanguages, WhatIsKeptOutsideTheCardIsSaidInGermanToo) {
  const char* optimizer = "/parallel/zero_optimization/offload_optimizer/device";
  const char* german =
      "Volles Finetuning von Llama 3.1 8B mit ZeRO-3 mit Auslagerung auf die CPU, 2x A100 80GB";
  EXPECT_EQ(value_of(german, optimizer), "\"cpu\"");
  EXPECT_EQ(
      value_of("Volles Finetuning von Llama 3.1 8B mit ZeRO-3 ohne Auslagerung, 2x A100 80GB", optimizer),
      "");
  EXPECT_EQ(value_of("Llama 3.1 8B 풀 파인튜닝 ZeRO-3 CPU 오프로드 2x A100 80GB", optimizer), "\"cpu\"");
}

struct Numbers {
  const char *text, *micro, *length;
};

TEST(SaidLanguages, BatchAndLengthAreReadInEachLanguage) {
  const Numbers rows[] = {
      {"J'affine Llama 3.1 8B en LoRA sur une RTX 4090, lot de 4, longueur 2048. Ça passe ?", "4", "2048"},
      {"LoRA de Llama 3.1 8B, taille de batch 2, longueur de séquence de 4096", "2", "4096"},
      {"LoRA de Llama 3.1 8B, lote de 8, longitud 2048, ¿cabe en una RTX 4090?", "8", "2048"},
      {"LoRA di Llama 3.1 8B, batch di 2, lunghezza 2048, su una RTX 4090, ci sta?", "2", "2048"},
      {"LoRA do Llama 3.1 8B, lote de 2, comprimento 2048, numa RTX 4090, cabe?", "2", "2048"},
      {"LoRA Llama 3.1 8B, размер батча 2, длина последовательности 4096, RTX 4090", "2", "4096"},
      {"Llama 3.1 8BのLoRA、バッチサイズ1、シーケンス長1024、RTX 4090で足りますか？", "1", "1024"},
      {"Llama 3.1 8B LoRA, 배치 크기 2, 시퀀스 길이 4096, RTX 4090에서 가능한가요?", "2", "4096"},
  };
  for (const Numbers& row : rows) {
    EXPECT_EQ(value_of(row.text, "/training/per_device_train_batch_size"), row.micro) << row.text;
    EXPECT_EQ(value_of(row.text, "/training/max_length"), row.length) << row.text;
  }
}

TEST(SaidLanguages, AFillerIsOfTheLanguageOfItsName) {
  EXPECT_EQ(value_of("I have a lot of 4 cards for LoRA of Llama 3.1 8B, 3090s",
                     "/training/per_device_train_batch_size"),
            "");
  EXPECT_EQ(value_of("LoRA de Llama 3.1 8B, batch effectif 32, lot de 2, 4 cartes A100 40GB",
                     "/training/gradient_accumulation_steps"),
            "4");
}

TEST(SaidLanguages, ThatAllWeightsAreTrainedIsReadInEachLanguage) {
  for (const char* text : {
           "Fine-tuning complet de Llama 3.2 3B sur une A100 80GB, ça passe ?",
           "Ajuste fino completo de Llama 3.2 3B en una sola A100 de 40 GB",
           "Fine-tuning completo di Llama 3.2 3B su una A100 80GB",
           "Estou fazendo fine-tuning completo do Qwen2.5-1.5B numa RTX 3090",
           "Полное дообучение Llama 3.2 3B на одной A100 80GB, хватит памяти?",
           "RTX 3060 12GBでgemma-2-2b-itをフルファインチューニングしようとしています",
           "Llama 3.2 3B 풀 파인튜닝, A100 80GB에서 가능한가요?",
           "Ich will Qwen2.5-7B voll feintunen auf 2x 3090, passt das?",
       }) {
    const SaidRequest one = said_request(diagnosis::clean(text), diagnosis::catalog());
    EXPECT_EQ(one.methods, (std::vector<Method>{Method::full})) << text;
  }
}

TEST(SaidLanguages, EveryMeaningHasRows) {
  for (const SaidPhrase& one : phrases_of(Means::denies_behind)) EXPECT_FALSE(one.phrase.empty());
  EXPECT_FALSE(phrases_of(Means::checkpointing).empty());
}

}  // namespace
}  // namespace plimsoll::question

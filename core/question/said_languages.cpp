#include "core/question/said_languages.h"

#include <algorithm>
#include <array>

namespace plimsoll::question {

namespace {

// Phrases are divided by ", "; of a word that ends in "*" only the stem is compared. Of Chinese, Japanese and
// Korean, which write words together, a phrase may be a part of a word.
struct Row {
  std::string_view language;
  Means means;
  std::string_view phrases;
};
constexpr Row rows[] = {
    {"en", Means::denies_before,
     "no, without, neither, nor, not, instead, disable, disabled, disabling, w o, turn off, turned off, turning off, switch off, "
     "switched off, switching off"},
    {"en", Means::without, "without, w o, neither"},
    {"en", Means::joins, "and, or, nor"},
    {"en", Means::denies_behind,
     "off, false, disabled, not enabled, not used, not active, not activated, turned off, switched off"},
    {"en", Means::cannot_before,
     "can t use, cannot use, can not use, couldn t use, could not use, not able to use, unable to use, can t enable, cannot enable, can t install, cannot install, couldn t install"},
    {"en", Means::cannot_behind,
     "not available, isn t available, unavailable, not installed, isn t installed, not supported, isn t supported, unsupported, not possible, isn t possible, not an option, isn t an option, won t install, doesn t install, fails to install, can t be used, cannot be used, can t be installed, cannot be installed"},
    {"en", Means::broken, "doesn t work, does not work, didn t work, not working, won t work, broken"},
    {"en", Means::checkpointing,
     "gradient checkpointing, grad checkpointing, activation checkpointing, gradient checkpoint, gradient "
     "checkpoints, grad checkpoint, gradient ckpt, grad ckpt, activation ckpt, activation recomputation"},
    {"en", Means::full, "fft"},
    {"en", Means::whole_step, "effective*, global*, total*, overall*"},
    {"en", Means::one, "single, one, 1x"},
    {"en", Means::rather, "or, vs, versus, instead of, rather than, over, compared to, compared with"},
    {"en", Means::filler, "from, of, is, to, at, about, around, as, was, set, up, a"},
    {"en", Means::free, "free, available, usable, left"},
    {"en", Means::how_many, "how many"},
    {"en", Means::card, "gpu, card, nvidia, rtx"},
    {"en", Means::text_only,
     "text only, only text, text data only, no images, without images, without any images, plain text"},
    {"en", Means::inference,
     "inference, inferencing, serve, serves, serving, deploy, deploying, deployment, to host, i host, we host, self host*, hosting, kv cache, vllm, "
     "sglang, lmdeploy, tgi, ollama, llama cpp, lm studio, gguf, exllama*, tensorrt llm"},
    {"en", Means::runs,
     "can i run, can we run, could i run, can you run, enough to run, need to run, needed to run, run locally, running locally"},
    {"en", Means::trains,
     "train*, pretrain*, finetun*, fine tun*, tune, tuning, lora, qlora, peft, adapter*, fsdp, deepspeed, gradient*, "
     "optimizer*, epoch*, rlhf, reinforcement, distilling, distillation, openrlhf, verl"},
    {"en", Means::fails,
     "oom, error, crash, kill, died, dies, dying, fail, out of, run out, runs o, ran out, exceed, insuff, not enough, not fit, n't, cannot, can not, 137, sigkill, freez, hang, explod, blow, grow, increas, leak, still, is full, fills, keeps, goes up, why, needs more, too much, too big, too large, slow, stuck, no longer, anymore, any more, upgrad, updat, used to"},

    {"de", Means::denies_before, "ohne, kein, keine, keinen, weder, noch, statt, deaktivier*"},
    {"de", Means::without, "ohne, weder"},
    {"de", Means::joins, "und, oder, noch"},
    {"de", Means::denies_behind,
     "aus, deaktivier*, ausgeschaltet, abgeschaltet, nicht aktiv*, nicht an, nicht eingeschaltet"},
    {"de", Means::cannot_behind,
     "lässt sich nicht, nicht nutzen, nicht benutzen, nicht verwenden, nicht einsetzen, nicht installier*, nicht verfügbar*, nicht unterstützt*, nicht möglich*"},
    {"de", Means::broken,
     "funktioniert nicht, funktioniert hier nicht, geht nicht, geht hier nicht, läuft nicht"},
    {"de", Means::full,
     "voll fein*, voll fine*, voll trainier*, volles fein*, volles fine*, volles train*, vollständig* fein*, "
     "vollständig* fine*, vollständig* train*, vollständig* nachtrain*, alle gewichte, alle parameter"},
    {"de", Means::length, "länge, sequenzlänge, kontextlänge, maximallänge, kontext"},
    {"de", Means::batch, "batchgröße, batch größe, batchgrösse"},
    {"de", Means::whole_step, "effektiv*, gesamt*"},
    {"de", Means::accumulation, "gradientenakkumulation, akkumulation"},
    {"de", Means::rank, "rang"},
    {"de", Means::cards, "karten, grafikkarten"},
    {"de", Means::one, "eine, einer, einem"},
    {"de", Means::rather, "oder, statt, anstatt, anstelle von, gegenüber, gegen"},
    {"de", Means::filler, "von, ist, bei, auf"},
    {"de", Means::free, "frei"},
    {"de", Means::how_many, "wie viele, wieviele"},
    {"de", Means::card, "karte"},
    {"de", Means::text_only, "nur text, nur texte, reiner text, ohne bilder, keine bilder"},
    {"de", Means::inference, "inferenz*, inferieren, bereitstell*, betreiben"},
    {"de", Means::runs, "laufen lassen, laufen zu lassen"},
    {"de", Means::trains, "feintun*, feinabstimm*, trainier*, nachtrain*, anlernen"},
    {"de", Means::fails,
     "reicht nicht, abgest, bricht, stürzt, warum, fehl, zu wenig, zu gro, passt nicht, nicht mehr, speicher voll, läuft voll, vollgelaufen, überlauf"},

    {"fr", Means::denies_before, "sans, pas de, pas d, pas le, aucun, aucune, ni, désactiv*, desactiv*"},
    {"fr", Means::denies_behind, "désactiv*, desactiv*, coupé, éteint, pas activé, non activé, n est pas"},
    {"fr", Means::cannot_before, "ne peux pas utiliser, ne peut pas utiliser, impossible d utiliser"},
    {"fr", Means::cannot_behind,
     "pas disponible, indisponible, pas installé*, pas supporté*, pas pris en charge"},
    {"fr", Means::checkpointing, "checkpointing de gradient, checkpointing du gradient"},
    {"fr", Means::full,
     "fine tuning complet, finetuning complet, fine tuning intégral, affinage complet, réglage fin complet, "
     "entraînement complet, tous les paramètres, tous les poids"},
    {"fr", Means::length,
     "longueur, longueur de séquence, longueur de séquences, longueur max, longueur maximale, longueur des "
     "séquences, longueur de contexte, longueur du contexte, contexte, séquences, séquence"},
    {"fr", Means::tokens, "jetons"},
    {"fr", Means::batch,
     "lot, lots, taille de lot, taille du lot, taille des lots, taille de batch, taille du batch, batch effectif, "
     "taille de batch effective, batch global, batch total"},
    {"fr", Means::whole_step, "effectif*"},
    {"fr", Means::accumulation,
     "accumulation de gradient, accumulation de gradients, accumulation du gradient"},
    {"fr", Means::rank, "rang"},
    {"fr", Means::cards, "cartes"},
    {"fr", Means::one, "une seule, un seul, sur une"},
    {"fr", Means::filler, "de, est, à, d, environ, égale, égal, par, carte"},
    {"fr", Means::free, "libre, libres"},
    {"fr", Means::how_many, "combien de, combien d"},
    {"fr", Means::card, "carte"},
    {"fr", Means::fails, "plante, erreur, pourquoi"},

    {"es", Means::denies_before, "sin, ningún, ni, desactiv*, deshabilit*"},
    {"es", Means::denies_behind, "desactiv*, deshabilit*, apagado, apagada, no activado, no está activado"},
    {"es", Means::cannot_before, "no puedo usar, no podemos usar, no se puede usar"},
    {"es", Means::cannot_behind,
     "no disponible, no está disponible, no está instalado, no instalado, no es compatible"},
    {"es", Means::checkpointing, "checkpointing de gradiente, checkpointing de gradientes"},
    {"es", Means::full,
     "ajuste fino completo, ajuste completo, fine tuning completo, finetuning completo, entrenamiento completo, "
     "todos los parámetros, todos los pesos"},
    {"es", Means::length,
     "longitud, longitud de secuencia, longitud de la secuencia, longitud de secuencias, longitud máxima, longitud "
     "maxima, longitud de contexto, longitud del contexto, contexto, secuencias, secuencia"},
    {"es", Means::batch,
     "lote, lotes, tamaño de lote, tamaño del lote, tamaño de batch, tamaño del batch, lote efectivo, lote global, "
     "lote total, batch efectivo, tamaño de lote efectivo"},
    {"es", Means::whole_step, "efectiv*"},
    {"es", Means::accumulation,
     "acumulación, acumulación de gradiente, acumulación de gradientes, acumulacion de gradientes"},
    {"es", Means::rank, "rango"},
    {"es", Means::cards, "tarjetas"},
    {"es", Means::one, "una sola, un solo, única, en una"},
    {"es", Means::filler, "de, es, a, unos, por, tarjeta"},
    {"es", Means::free, "libre, libres"},
    {"es", Means::how_many, "cuántas, cuántos"},
    {"es", Means::card, "tarjeta"},
    {"es", Means::fails, "falla, muere, por qu"},

    {"it", Means::denies_before,
     "senza, non uso, non usare, non utilizz*, nessun, nessuna, né, disattiv*, disabilit*"},
    {"it", Means::denies_behind, "disattiv*, disabilit*, spento, spenta, non attivo, non attivato"},
    {"it", Means::cannot_before, "non posso usare, non possiamo usare, non si può usare"},
    {"it", Means::cannot_behind,
     "non disponibile, non è disponibile, non installato, non è installato, non supportato"},
    {"it", Means::full,
     "fine tuning completo, finetuning completo, addestramento completo, tutti i parametri, tutti i pesi"},
    {"it", Means::length,
     "lunghezza, lunghezza di sequenza, lunghezza della sequenza, lunghezza delle sequenze, lunghezza massima, "
     "lunghezza del contesto, contesto, sequenze, sequenza"},
    {"it", Means::batch,
     "lotto, dimensione del batch, dimensione batch, dimensione del lotto, batch effettivo, batch globale, batch "
     "totale"},
    {"it", Means::whole_step, "effettiv*"},
    {"it", Means::accumulation,
     "accumulo, accumulo di gradiente, accumulo dei gradienti, accumulo del gradiente"},
    {"it", Means::rank, "rango"},
    {"it", Means::cards, "schede"},
    {"it", Means::one, "una sola, singola, su una"},
    {"it", Means::filler, "di, è, a, circa, per, scheda"},
    {"it", Means::how_many, "quante, quanti"},
    {"it", Means::card, "sched"},
    {"it", Means::fails, "errore, perch"},

    {"pt", Means::denies_before, "sem, não, nenhum, nem, desativ*, desabilit*"},
    {"pt", Means::denies_behind, "desativ*, desabilit*, desligado, desligada, não ativado"},
    {"pt", Means::cannot_before, "não posso usar, não consigo usar, não dá para usar"},
    {"pt", Means::cannot_behind,
     "não disponível, não está disponível, não instalado, não está instalado, não suportado"},
    {"pt", Means::checkpointing, "checkpointing de gradiente, checkpointing de gradientes"},
    {"pt", Means::full,
     "fine tuning completo, finetuning completo, ajuste fino completo, treinamento completo, treino completo, todos "
     "os parâmetros, todos os pesos"},
    {"pt", Means::length,
     "comprimento, comprimento de sequência, comprimento da sequência, comprimento das sequências, comprimento "
     "máximo, comprimento de contexto, comprimento do contexto, contexto, sequências, sequência"},
    {"pt", Means::batch,
     "lote, lotes, tamanho do lote, tamanho de lote, tamanho do batch, tamanho de batch, lote efetivo, batch "
     "efetivo, batch global, batch total"},
    {"pt", Means::whole_step, "efetiv*"},
    {"pt", Means::accumulation, "acumulação, acumulação de gradiente, acumulação de gradientes"},
    {"pt", Means::rank, "posto"},
    {"pt", Means::cards, "placas"},
    {"pt", Means::one, "uma única, uma só, numa, em uma"},
    {"pt", Means::filler, "de, é, a, cerca, por, placa"},
    {"pt", Means::how_many, "quantas"},
    {"pt", Means::card, "placa"},
    {"pt", Means::fails, "erro "},

    {"nl", Means::denies_before, "zonder, geen"},
    {"nl", Means::denies_behind, "uitgeschakeld, uit"},

    {"pl", Means::denies_before, "bez"},
    {"pl", Means::denies_behind, "wyłączon*"},

    {"ru", Means::denies_before, "без, не использ*, не включ*, отключ*, выключ*"},
    {"ru", Means::denies_behind, "отключ*, выключ*, выкл, не включ*, не использ*"},
    {"ru", Means::cannot_before, "не могу использовать, нельзя использовать"},
    {"ru", Means::cannot_behind, "недоступ*, не установлен*, не поддерживается"},
    {"ru", Means::checkpointing, "градиентн* чекпо*, чекпоинтинг*, чекпойнтинг*"},
    {"ru", Means::full,
     "полн* дообуч*, полн* обуч*, полн* файнтюн*, полн* файн тюн*, полн* fine tun*, полн* finetun*, все параметры, "
     "все веса"},
    {"ru", Means::length, "длин*, длин* последовательност*, длин* контекста, макс* длин*, контекст*"},
    {"ru", Means::tokens, "токен*"},
    {"ru", Means::batch, "батч*, размер* батч*, батч сайз*, эффективн* батч*, глобальн* батч*"},
    {"ru", Means::whole_step, "эффективн*, глобальн*, общ*"},
    {"ru", Means::accumulation, "накоплени* градиент*, аккумуляци* градиент*, аккумуляци*"},
    {"ru", Means::rank, "ранг*"},
    {"ru", Means::cards, "карт*, видеокарт*"},
    {"ru", Means::one, "одной, одна, одну"},
    {"ru", Means::filler, "в, до, около, на, равен, равна"},
    {"ru", Means::how_many, "сколько"},
    {"ru", Means::card, "карт"},
    {"ru", Means::fails, "ошибк, пада, вылета, почему"},

    {"zh", Means::denies_before, "没, 未, 不开, 不用, 不使用, 不启用, 不带, 不加, 禁用, 关闭, 关掉, 关了"},
    {"zh", Means::denies_behind, "没, 未, 不开, 不用, 不使用, 不启用, 不带, 不加, 禁用, 关闭, 关掉, 关了"},
    {"zh", Means::cannot_before, "不能用, 不能使用, 无法使用, 用不了, 装不上, 没装, 没有安装"},
    {"zh", Means::cannot_behind,
     "用不了, 装不上, 不可用, 不支持, 没装, 没有安装, 不能用, 不能使用, 无法使用"},
    {"zh", Means::broken, "不能运行, 跑不起来, 不工作, 用不上"},
    {"zh", Means::checkpointing, "梯度检查点, 激活检查点, 重计算"},
    {"zh", Means::full, "全量, 全参"},
    {"zh", Means::length, "长度, 上下文"},
    {"zh", Means::tokens, "长度, 上下文"},
    {"zh", Means::batch, "批次大小, 批量大小, 批大小, 批次"},
    {"zh", Means::whole_step, "有效, 全局, 总"},
    {"zh", Means::accumulation, "梯度累积, 累积步数"},
    {"zh", Means::rank, "秩"},
    {"zh", Means::one, "单张, 单卡, 一张"},
    {"zh", Means::filler, "设为, 为, 是"},
    {"zh", Means::free, "可用"},
    {"zh", Means::how_many_cards, "几张, 几块, 几卡, 多少张, 多少块"},
    {"zh", Means::inference, "推理, 部署"},
    {"zh", Means::trains, "训练, 微调, 精调, 调优, 强化学习, 蒸馏"},
    {"zh", Means::fails,
     "报错, 爆, 崩, 溢出, 失败, 不足, 显存不, 显存满, 到一半, 中断, 为什么, 杀, 卡死, 不够用, 放不下, 跑不, 升级, 更新"},

    {"ja", Means::denies_behind,
     "なし, 無し, 無効, オフ, 使わない, 使わず, 使っていない, 使ってない, 使用しない, 使用せず, 使用していない, 使いません, 使っていません, 使用しません, "
     "有効にしない, 有効にせず, 有効にしていない, かけない, かけず"},
    {"ja", Means::cannot_behind, "使えない, 使えません, 使えず, 入っていない, 対応していない"},
    {"ja", Means::checkpointing,
     "勾配チェックポイント, グラディエントチェックポイント, アクティベーションチェックポイント"},
    {"ja", Means::full,
     "フルファインチューニング, フル ファインチューニング, フルパラメータ, フルチューニング, フル ft, 全パラメータ"},
    {"ja", Means::length,
     "シーケンス長, 系列長, コンテキスト長, コンテキスト, 最大長, トークン長, トークン数, 長さ"},
    {"ja", Means::tokens, "トークン, コンテキスト"},
    {"ja", Means::batch, "バッチサイズ, バッチ"},
    {"ja", Means::whole_step, "実効, 有効バッチ, グローバル, 合計"},
    {"ja", Means::accumulation, "勾配累積, 勾配蓄積"},
    {"ja", Means::rank, "ランク"},
    {"ja", Means::one, "一枚"},
    {"ja", Means::filler, "約"},
    {"ja", Means::how_many_cards, "何枚"},
    {"ja", Means::fails, "エラー, 足りない, 落ち, なぜ"},

    {"ko", Means::denies_behind,
     "없이, 없음, 끄고, 끔, 꺼, 비활성, 미사용, 사용하지, 사용 안, 안 쓰, 안 켜, 쓰지"},
    {"ko", Means::checkpointing,
     "그래디언트 체크포인, 그라디언트 체크포인, 그래디언트체크포인, 그라디언트체크포인"},
    {"ko", Means::full, "풀 파인튜닝, 풀파인튜닝, 전체 파인튜닝, 전체 미세, 풀 파라미터, 전체 파라미터"},
    {"ko", Means::length,
     "시퀀스 길이, 시퀀스길이, 컨텍스트 길이, 컨텍스트길이, 최대 길이, 최대길이, 길이, 컨텍스트"},
    {"ko", Means::tokens, "토큰"},
    {"ko", Means::batch, "배치 크기, 배치크기, 배치 사이즈, 배치사이즈, 배치"},
    {"ko", Means::whole_step, "유효, 글로벌"},
    {"ko", Means::accumulation, "그래디언트 누적, 그라디언트 누적, 누적"},
    {"ko", Means::rank, "랭크"},
    {"ko", Means::one, "한 장, 단일"},
    {"ko", Means::filler, "약"},
    {"ko", Means::how_many_cards, "몇 장"},
    {"ko", Means::fails, "부족, 오류, 에러"},
};

constexpr std::size_t meanings = static_cast<std::size_t>(Means::fails) + 1;
using Table = std::array<std::vector<SaidPhrase>, meanings>;

Table divided_rows() {
  Table out;
  for (const Row& row : rows) {
    std::string_view rest = row.phrases;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(", "), rest.size());
      out[static_cast<std::size_t>(row.means)].push_back({row.language, rest.substr(0, end)});
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
  }
  return out;
}

}  // namespace

const std::vector<SaidPhrase>& phrases_of(Means means) {
  static const Table table = divided_rows();
  return table[static_cast<std::size_t>(means)];
}

}  // namespace plimsoll::question

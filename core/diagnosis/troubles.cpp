#include "core/diagnosis/troubles.h"

#include <algorithm>
#include <cstdint>

#include "core/diagnosis/sentence.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_digit;

struct Trouble {
  Sign sign;
  const char* words;
  SaidWords things, verbs, unless;
  std::size_t reach;
};

// Lengths of a bracket: "16, 20000, 20000".
std::vector<uint64_t> lengths_in(std::string_view text) {
  constexpr std::size_t most = 8;
  std::vector<uint64_t> out;
  bool open = false;
  for (const char c : text) {
    if (is_digit(c)) {
      if (!open) out.push_back(0);
      out.back() = std::min<uint64_t>(out.back() * 10 + static_cast<uint64_t>(c - '0'), 1U << 30U);
    } else if (c != ',' && c != ' ' && c != 'x' && c != '*') {
      return {};
    }
    open = is_digit(c);
    if (out.size() > most) return {};
  }
  return out;
}

constexpr uint64_t least_length = 1024;

}  // namespace

std::string square_shape(std::string_view folded) {
  constexpr std::size_t longest = 48;
  for (std::size_t at = folded.find_first_of("[("); at != std::string_view::npos;
       at = folded.find_first_of("[(", at + 1)) {
    const std::string_view rest = folded.substr(at + 1, longest);
    const std::size_t end = rest.find_first_of("])");
    if (end == std::string_view::npos || end == 0 || !is_digit(rest.front())) continue;
    const std::vector<uint64_t> lengths = lengths_in(rest.substr(0, end));
    const std::size_t n = lengths.size();
    // A picture is as high as wide and has its few channels; a weight has two lengths.
    if (n < 3 || n > 4 || lengths[n - 1] != lengths[n - 2] || lengths[n - 1] < least_length) continue;
    if (says_any(sentence_around(folded, at, end + 2, 60), {"alloc", "tensor", "shape", "oom", "out of mem"}))
      return std::string(folded.substr(at, end + 2));
  }
  for (std::size_t at = folded.find("^2"); at != std::string_view::npos; at = folded.find("^2", at + 2)) {
    std::size_t begin = at;
    while (begin > 0 && is_digit(folded[begin - 1]) && at - begin < 8) --begin;
    if (at - begin >= 4 && says_any(sentence_around(folded, at, 2, 60), {"alloc", "matrix", "tensor", "oom"}))
      return std::string(folded.substr(begin, at + 2 - begin));
  }
  return "";
}

bool runs_in_one_process(std::string_view folded) {
  return says_any(folded, {"member: 1/1", "starting with 1 processes", "only seems to use one",
                           "seems to only use one of", "world size: 1\n", "data parallel gpus = 1\n"});
}

void read_troubles(std::string_view folded, std::vector<Evidence>& out) {
  static const Trouble troubles[] = {
      {Sign::in_use_at_start,
       "Something else holds the card",
       {"process", "zombie", "another program", "another user", "other user", "someone else", "previous run",
        "其他进程", "其它进程", "别的进程", "僵尸进程", "残留进程", "残留的进程", "别人", "其他人",
        "其他用户", "别的程序"},
       {"holding", "holds the", "still hold", "occupying", "occupies", "occupied", "still using",
        "still uses", "hogging", "left over", "leftover", "占", "在用", "在跑", "残留", "没有释放", "未释放"},
       {"memory in use", "each process", "every process", "per process", "processes each", "child process"},
       64},
      {Sign::in_use_at_start,
       "The memory of a run that has ended is still held",
       {"gpu memory", "vram", "cuda memory", "显存"},
       {"after the process", "after terminat", "after killing", "after i kill", "after ctrl",
        "process has ended", "no process", "no running process", "without any process", "nothing is running",
        "结束进程", "杀掉进程", "没有进程", "进程结束", "程序结束"},
       {"freed after", "is released after"},
       72},
      {Sign::after_steps,
       "It depends on the sample",
       {"long sequence",
        "longer sequence",
        "long sample",
        "longer sample",
        "long example",
        "longer example",
        "long prompt",
        "long response",
        "longer response",
        "long completion",
        "longer completion",
        "long text",
        "long input",
        "long document",
        "long sentence",
        "longer sentence",
        "longest sample",
        "longest sequence",
        "be too long",
        "are too long",
        "is too long",
        "very long",
        "长文本",
        "长样本",
        "长序列",
        "长数据",
        "过长",
        "较长",
        "超长"},
       {"encounter",    "meets",     "met a",      "hits a",        "comes up",     "come up",
        "comes across", "certain",   "occasion",   "sometimes",     "due to",       "because",
        "caused by",    "happen to", "when there", "in some batch", "some samples", "some sequences",
        "遇到",         "碰到",      "出现",       "偶尔",          "有的",         "个别"},
       {},
       60},
      {Sign::after_steps,
       "It dies now and then",
       {"oom", "out of memory", "out-of-memory", "爆显存", "显存溢出", "显存不足"},
       {"occasional", "sometimes", "intermittent", "once in a while", "from time to time",
        "every now and then", "random step", "random point", "various steps", "different steps", "偶尔",
        "有时", "时不时", "不定时", "随机"},
       {"random seed"},
       40},
      {Sign::near_16bit_though_quantized,
       "The quantisation did not take",
       {"4-bit", "4bit", "8-bit", "8bit", "quantiz", "quantis", "load_in_4", "load_in_8", "bits 4", "bits 8",
        "量化"},
       {"not applied", "n't applied", "not being applied", "ignored", "has no effect", "no effect",
        "not take effect", "n't take effect", "but detected", "still loads in", "loaded in fp16",
        "loaded in full", "没有生效", "不生效", "没生效", "未生效", "无效"},
       {},
       60},
      {Sign::quantised_saves_nothing,
       "A quantised base needs as much as one in 16 bits",
       {"qlora", "4-bit", "4bit", "8-bit", "8bit", "int4", "int8", "nf4", "quantiz", "quantis", "量化"},
       {"same memory",
        "same gpu memory",
        "same vram",
        "same amount of",
        "similar amount of",
        "similar memory",
        "memory consumption increases",
        "memory usage increases",
        "more memory than",
        "more vram than",
        "more gpu memory than",
        "higher memory",
        "higher than lora",
        "higher than bf16",
        "even higher",
        "even more memory",
        "no memory saving",
        "no reduction",
        "no significant advantage",
        "any significant advantage",
        "no advantage",
        "no benefit",
        "not reduc",
        "n't reduc",
        "not save",
        "n't save",
        "not lower",
        "n't lower",
        "并没有减少",
        "没有减少",
        "没有降低",
        "没降低",
        "没有区别",
        "没区别",
        "一样多",
        "反而更"},
       {"accuracy", "batch size did"},
       72},
      {Sign::adapters_save_nothing,
       "Adapters need as much as training all",
       {"lora", "peft", "adapter"},
       {"same memory",
        "same gpu memory",
        "same vram",
        "same amount of memory",
        "as much memory as",
        "more memory than full",
        "no memory saving",
        "no difference in memory",
        "not reduce memory",
        "n't reduce memory",
        "not reducing memory",
        "not save memory",
        "n't save memory",
        "hardly save",
        "barely save",
        "only saves",
        "没有减少",
        "没有降低",
        "没有区别",
        "没区别",
        "没什么区别",
        "差不多"},
       {"qlora"},
       72},
      {Sign::in_use_at_start,
       "It fails when it is run again, with what the first run left",
       {"second time", "second run", "subsequent run", "run it again", "re-run", "rerun", "run again",
        "第二次运行", "再次运行", "再运行"},
       {"oom", "out of mem", "out-of-mem", "爆", "显存不足", "溢出"},
       {"same error", "same result", "still"},
       60},
      {Sign::not_checkpointed,
       "Gradient checkpointing does not take",
       {"gradient checkpointing", "gradient_checkpointing", "activation checkpointing", "梯度检查点"},
       {"not work", "n't work", "no effect", "not take effect", "not enabled", "not active", "is ignored",
        "this error", "an error", "is not support", "not been enabled", "forgot", "不生效", "没有生效",
        "没有开", "没开", "未开启"},
       {"still", "even"},
       60},
      {Sign::quantized_and_sharded,
       "Every process loads the model for itself",
       {"重复加载",
        "都加载",
        "都会加载",
        "都会单独加载",
        "各自加载",
        "loads the full model",
        "loads the whole model",
        "loads the entire model",
        "load the full model",
        "load the whole model",
        "load the entire model",
        "loads its own copy",
        "loads a full copy",
        "copy of the model",
        "load all the weights",
        "loads all the weights",
        "load all weights",
        "loads all weights",
        "load the full",
        "load whole"},
       {"卡", "进程", "线程", "each process", "every process", "each rank", "every rank", "all ranks",
        "each gpu", "every gpu", "all gpus", "each card", "every card", "processes"},
       {},
       60},
      {Sign::contradicted_method,
       "The base is not frozen",
       {"requires_grad", "requires grad", "base model", "base weights", "backbone"},
       {"not turn off", "n't turn off", "not turned off", "not frozen", "n't frozen", "not freez",
        "n't freez", "not being frozen", "没有冻结", "未冻结", "没冻结"},
       {},
       60},
      {Sign::says_logits,
       "The words place it at the logits",
       {"logits", "lm_head", "lm head", "loss_function", "loss function", "cross entropy", "cross_entropy",
        "cross-entropy"},
       {"when calculat", "when comput", "while comput", "while calculat", "during the comput", "spike",
        "peak", "copies", "upcast", "尖刺", "峰值", "连续分配", "计算logits", "计算loss"},
       {"eval", "predict", "accumulat"},
       60},
      {Sign::one_card_only,
       "One card has more than the others",
       {"gpu 0", "gpu0", "first gpu", "cuda:0", "one of the gpus", "一张卡", "0号卡"},
       {"more than the other", "more memory than the other", "more than others", "others are empty",
        "others are idle", "rest are idle", "rest are empty", "others are barely", "other gpus are empty",
        "other gpus are idle", "其他卡几乎", "其他卡没", "其余卡没"},
       {},
       80},
      {Sign::grows,
       "It fitted the first times",
       {"inference", "generation", "generating", "predict", "推理", "生成"},
       {"several times", "many times", "multiple times", "repeatedly", "again and again", "in a loop",
        "for loop", "一段时间后", "多次", "循环"},
       {},
       60},
      {Sign::own_estimate,
       "An estimate was made that the run exceeds",
       {"theoretic", "estimat", "calculat", "理论", "估算", "估计", "计算得"},
       {"gb", "gib", "memory", "vram", "显存", "g。", "g，"},
       {"loss", "gradient estimat", "estimated time", "estimated tfl"},
       60},
  };
  for (const Trouble& one : troubles) {
    if (const std::string said = said_together(folded, one.things, one.verbs, one.reach, one.unless);
        !said.empty())
      out.push_back({one.sign, std::string(one.words) + " (\"" + said + "\")."});
  }
  if (const std::string shape = square_shape(folded); !shape.empty())
    out.push_back({Sign::is_scores, "A tensor of " + shape +
                                        " has the shape of attention scores: it grows with the square of the "
                                        "length."});
}

}  // namespace plimsoll::diagnosis

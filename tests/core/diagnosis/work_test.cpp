// How much of a pasted text its readers look at, counted in bytes and never in seconds, so that the figure is
// the same on a busy machine: for any bytes it stays in proportion to the length of the text.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/diagnosis/gpu_table.h"
#include "core/diagnosis/message.h"
#include "core/diagnosis/traceback.h"
#include "core/diagnosis/traceback_frames.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {
namespace {

struct Hostile {
  const char* what;
  std::string edge;   // at both ends
  std::string piece;  // again and again between them
};

// Every word by which a frame is known, one behind the other; behind '_' those that are a part of a name.
std::string all_frame_words(char between) {
  std::string words;
  for (const FrameWords& frame : frame_words()) {
    const bool name = std::all_of(frame.words.begin(), frame.words.end(), ascii::is_word);
    if (between == '_' && !name) continue;
    words += frame.words;
    words += between;
  }
  return words;
}

std::vector<Hostile> hostile_texts() {
  const std::string script = "import torch\nimport peft\n";
  return {
      {"a line of one letter", "", "a"},
      {"NUL", "", std::string(1, '\0')},
      {"broken UTF-8", "", "\xff"},
      {"a word that is half a marker", "", "cuda out of memor"},
      {"digits", "", "1234567890"},
      {"blanks", "", " "},
      {"bars and slashes", "", "1 / |"},
      {"messages in one line", "", "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 4 "},
      {"messages without a figure", "", "CUDA out of memory. Tried to allocate GPU x; "},
      {"messages of ranks, broken", "",
       "[rank3]: CUDA out of memory. Tried to allocate 2.00\n[rank3]: GiB\n"},
      {"a sentence in one line", "", "CUDA out of memory. batch size 4 on a single gpu "},
      {"words of a shell", "", "Killed "},
      {"empty lines", "", "\n"},
      {"settings", "", "save_steps: 500\n"},
      {"tags and entities", "", "<b>&gt;</b"},
      {"colours", "", "\x1b[3;1"},
      {"rows of a table", "", "|    0   N/A  N/A      1234      C   python       7590MiB |\n"},
      {"figures of a table", "", "| N/A   33C    P0    38W / 150W |   7600MiB /  7680MiB |\n"},
      {"frames", "", "  File \"x.py\", line 1, in forward\n    loss.backward()\n"},
      {"words of frames in prose", "", all_frame_words(' ')},
      {"words of frames in a setting's value", "a_b: ", all_frame_words('_')},
      {"words of frames, a line each", script, all_frame_words('\n')},
      {"words of frames in one line", script, all_frame_words(' ')},
      {"words of frames in one word", script, all_frame_words('_')},
  };
}

std::string text_of(const Hostile& hostile, std::size_t size) {
  std::string text = hostile.edge, block;
  while (block.size() < 4096) block += hostile.piece;
  while (text.size() < size) text += block;
  return text + "\n" + hostile.edge;
}

uint64_t looked_at(std::string_view text) {
  Work work;
  const Text cleaned = clean(CountedText(text, &work));
  EXPECT_LE(read_messages(cleaned, &work).size(), 64U);
  read_gpu_table(cleaned, &work);
  read_frames(cleaned, &work);
  return work.bytes;
}

// At each word of a frame the 4 KiB around it are read as a setting: where such words are all that there is,
// that makes up to 800 looks at each byte. No other text here needs 150.
constexpr uint64_t most_looks_at_a_byte = 1000;

TEST(DiagnosisWork, ATextOfAnyLengthIsLookedAtInProportionToIt) {
  for (const Hostile& hostile : hostile_texts()) {
    for (const std::size_t size : {10'000U, 100'000U, 1'000'000U}) {
      const std::string text = text_of(hostile, size);
      ASSERT_LE(looked_at(text), most_looks_at_a_byte * text.size())
          << hostile.what << ", " << size << " bytes";
    }
  }
}

TEST(DiagnosisWork, NoReaderPassesTheCount) {
  std::string text;
  while (text.size() < 10'000) text += "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
  Work of_clean, of_messages, of_table, of_frames;
  const Text cleaned = clean(CountedText(text, &of_clean));
  read_messages(cleaned, &of_messages);
  read_gpu_table(cleaned, &of_table);
  read_frames(cleaned, &of_frames);
  for (const Work& work : {of_clean, of_messages, of_table, of_frames}) EXPECT_GE(work.bytes, text.size());
}

TEST(DiagnosisWork, BytesThatAreLookedAtAgainCountAgain) {
  Work work;
  const CountedText text("one\ntwo\nthree", &work);
  EXPECT_EQ(text.find('\n'), 3U);
  EXPECT_EQ(work.bytes, 3U);
  EXPECT_EQ(text.find('\n', 4), 7U);
  EXPECT_EQ(work.bytes, 6U);
  EXPECT_EQ(text.rfind('\n', 12), 7U);
  EXPECT_EQ(work.bytes, 11U);
  EXPECT_EQ(text.find("none"), CountedText::npos);
  EXPECT_EQ(work.bytes, 28U);
  EXPECT_TRUE(text.substr(4).starts_with("two"));
  EXPECT_EQ(work.bytes, 31U);
  EXPECT_EQ(text.all().size(), 13U);
  EXPECT_EQ(work.bytes, 44U);
  EXPECT_EQ(text.beside("another")[0], 'a');
  EXPECT_EQ(work.bytes, 45U);
}

}  // namespace
}  // namespace plimsoll::diagnosis

// Forms of out-of-memory messages, their figures and their traps. The lines are those of public issue threads
// and of the format strings in PyTorch's source; where a thread is meant it is named.
#include "core/diagnosis/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/diagnosis/gpu_table.h"

namespace plimsoll::diagnosis {
namespace {

constexpr double kib = 1024, mib = 1048576, gib = 1073741824;

Message first(std::string_view text) {
  const auto messages = read_messages(clean(text));
  EXPECT_FALSE(messages.empty()) << text;
  return messages.empty() ? Message() : messages[primary(messages)];
}

bool has_form(const Message& message, int row) {
  return std::find(message.forms.begin(), message.forms.end(), row) != message.forms.end();
}

void expect_size(const std::optional<Size>& size, double bytes) {
  ASSERT_TRUE(size.has_value());
  EXPECT_DOUBLE_EQ(size->bytes, bytes);
}

// dbolya/yolact#296. In releases up to 1.3 the figure is reserved minus allocated
// (c10/cuda/CUDACachingAllocator.cpp of v1.3.0: stats.amount_cached - stats.amount_allocated).
TEST(DiagnosisMessage, CachedOfOldReleasesIsBeyondTheAllocatedMemory) {
  const Message m = first(
      "RuntimeError: CUDA out of memory. Tried to allocate 40.00 MiB (GPU 0; 5.80 GiB total capacity; 3.63 "
      "GiB "
      "already allocated; 16.81 MiB free; 80.22 MiB cached)");
  EXPECT_TRUE(has_form(m, 1));
  expect_size(m.numbers.tried, 40 * mib);
  expect_size(m.numbers.cached, 80.22 * mib);
  const Derived d = derive(m.numbers);
  EXPECT_DOUBLE_EQ(*d.reserved, 3.63 * gib + 80.22 * mib);
  EXPECT_NEAR(*d.residual / gib, 2.07, 0.01);  // another process or the display
}

TEST(DiagnosisMessage, ReadsTheBracketOfReleasesBefore2Point1) {
  const Message m = first(
      "RuntimeError: CUDA out of memory. Tried to allocate 1.72 GiB (GPU 0; 5.79 GiB total capacity; 2.37 "
      "GiB "
      "already allocated; 1.23 GiB free; 2.38 GiB reserved in total by PyTorch)");
  EXPECT_TRUE(has_form(m, 2));
  EXPECT_EQ(m.gpu, 0);
  expect_size(m.numbers.capacity, 5.79 * gib);
  expect_size(m.numbers.free, 1.23 * gib);
  const Derived d = derive(m.numbers);
  EXPECT_NEAR(*d.slack, 0.01 * gib, 1e-3);
  EXPECT_NEAR(*d.shortfall, 0.49 * gib, 1e-3);
  EXPECT_NEAR(*d.residual, 2.18 * gib, 1e-3);
}

TEST(DiagnosisMessage, ReadsTheMisspeltCapacityOf2Point1) {
  const Message m = first(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 24.00 MiB. GPU 0 has a total "
      "capacty of "
      "23.69 GiB of which 24.56 MiB is free. Process 106008 has 23.66 GiB memory in use. Of the allocated "
      "memory "
      "23.19 GiB is allocated by PyTorch, and 32.44 MiB is reserved by PyTorch but unallocated. If reserved "
      "but "
      "unallocated memory is large try setting max_split_size_mb to avoid fragmentation.");
  EXPECT_TRUE(has_form(m, 4));
  EXPECT_TRUE(has_form(m, 8));
  expect_size(m.numbers.capacity, 23.69 * gib);
  ASSERT_EQ(m.numbers.processes.size(), 1U);
  EXPECT_TRUE(m.numbers.processes[0].own);  // a container: the only line that is large enough is this process
  EXPECT_DOUBLE_EQ(*derive(m.numbers).other, 0);
}

TEST(DiagnosisMessage, EveryProcessLineIsForeignWhenThisProcessIsNamed) {
  const Message m = first(
      "CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 14.56 GiB of which "
      "58.38 MiB "
      "is free. Process 244271 has 26.06 MiB memory in use. Process 238746 has 1.08 GiB memory in use. "
      "Process 244515 "
      "has 468.00 MiB memory in use. Including non-PyTorch memory, this process has 12.90 GiB memory in use. "
      "Of the "
      "allocated memory 12.72 GiB is allocated by PyTorch, and 69.61 MiB is reserved by PyTorch but "
      "unallocated.");
  EXPECT_EQ(m.numbers.processes.size(), 3U);
  EXPECT_DOUBLE_EQ(*derive(m.numbers).other, (26.06 + 468) * mib + 1.08 * gib);
}

TEST(DiagnosisMessage, TheOwnProcessIsTheOneNearestAboveWhatIsReserved) {  // huggingface/trl#4237
  const Message m = first(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.11 GiB. GPU 0 has a total capacity of "
      "14.74 "
      "GiB of which 1.65 GiB is free. Process 19066 has 6.79 GiB memory in use. Process 19069 has 514.00 MiB "
      "memory "
      "in use. Process 19060 has 4.93 GiB memory in use. Process 19063 has 894.00 MiB memory in use. Of the "
      "allocated "
      "memory 4.50 GiB is allocated by PyTorch, and 2.14 GiB is reserved by PyTorch but unallocated.");
  EXPECT_TRUE(m.numbers.processes[0].own);
  EXPECT_NEAR(*derive(m.numbers).other / gib, 6.305, 0.001);
}

TEST(DiagnosisMessage, AProcessShownWithNothingLeavesOnlyABound) {
  const Message m = first(
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 "
      "GiB is "
      "free. Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory "
      "70.00 GiB "
      "is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.");
  EXPECT_TRUE(has_form(m, 8));
  const Derived d = derive(m.numbers);
  EXPECT_TRUE(d.other_is_a_bound);
  EXPECT_DOUBLE_EQ(*d.other, 8 * gib);
}

TEST(DiagnosisMessage, ASentinelIsNoMemory) {  // linkedin/Liger-Kernel#47: WSL
  const Message m = first(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total "
      "capacity of "
      "8.00 GiB of which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB "
      "memory in "
      "use. Of the allocated memory 13.67 GiB is allocated by PyTorch, and 9.62 MiB is reserved by PyTorch "
      "but "
      "unallocated. If reserved but unallocated memory is large try setting "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.");
  EXPECT_TRUE(has_form(m, 9));
  EXPECT_TRUE(derive(m.numbers).sentinel);
  expect_size(m.numbers.free, 0);
  EXPECT_DOUBLE_EQ(*derive(m.numbers).other, 0);
}

TEST(DiagnosisMessage, ReadsPrivatePoolsAndTheLimitOfTheProcess) {
  const Message m = first(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 7 has a total capacity "
      "of 79.10 "
      "GiB of which 8.00 MiB is free. Including non-PyTorch memory, this process has 79.00 GiB memory in "
      "use. 40.00 "
      "GiB allowed; Of the allocated memory 77.41 GiB is allocated by PyTorch, with 184.91 MiB allocated in "
      "private "
      "pools (e.g., CUDA Graphs), and 43.59 MiB is reserved by PyTorch but unallocated. If reserved but "
      "unallocated "
      "memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.");
  EXPECT_TRUE(has_form(m, 6));
  EXPECT_TRUE(has_form(m, 7));
  EXPECT_EQ(m.gpu, 7);
  expect_size(m.numbers.pools, 184.91 * mib);
  expect_size(m.numbers.limit, 40 * gib);
  expect_size(m.numbers.allocated, 77.41 * gib);
  expect_size(m.numbers.unallocated, 43.59 * mib);
}

TEST(DiagnosisMessage, ReadsALineWithoutItsDeviceAndOneWithoutABlank) {
  const Message m = first(
      "CUDA out of memory. Tried to allocate 64.00 MiB. GPU  has a total capacity of 95.00 GiB of which19.38 "
      "MiB is "
      "free. Including non-PyTorch memory, this process has 22.09 GiB memory in use. Of the allocated memory "
      "21.74 "
      "GiB is allocated by PyTorch, and 13.75 MiB is reserved by PyTorch but unallocated.");
  EXPECT_TRUE(has_form(m, 10));
  EXPECT_EQ(m.gpu, -1);
  expect_size(m.numbers.free, 19.38 * mib);
}

TEST(DiagnosisMessage, KeepsWhatACutOffLineStillSays) {
  const Message short_one = first("OutOfMemoryError: CUDA out of memory. Tried to allocate 214.00 MiB. GPU ");
  EXPECT_TRUE(short_one.cut_off);
  expect_size(short_one.numbers.tried, 214 * mib);
  EXPECT_FALSE(short_one.numbers.capacity.has_value());
  const Message half_a_number = first(
      "CUDA out of memory. Tried to allocate 26.00 MiB. GPU 0 has a total capacity of 44.43 GiB of which "
      "19.00 MiB is "
      "free. Including non-PyTorch memory, this process has 44.");
  EXPECT_TRUE(has_form(half_a_number, 11));
  EXPECT_FALSE(half_a_number.numbers.this_process.has_value());
}

TEST(DiagnosisMessage, SeveralRanksAreKeptApart) {
  const auto messages =
      read_messages(clean("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00\n"
                          "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
                          "GPU 0 has a total capacity of\n"
                          "[rank3]: GiB. GPU 3 has a total capacity of 79.10 GiB of which 8.00 MiB is free.\n"
                          "[rank0]: 79.10 GiB of which 9.00 MiB is free.\n"
                          "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
                          "GPU 0 has a total capacity of "
                          "79.10 GiB of which 9.00 MiB is free.\n"));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].rank, 0);
  EXPECT_EQ(messages[0].repeats, 2U);
  expect_size(messages[0].numbers.free, 9 * mib);
  EXPECT_EQ(messages[1].rank, 3);
  expect_size(messages[1].numbers.tried, gib);
}

TEST(DiagnosisMessage, TwoRanksInOneLineAreTwoMessages) {  // salesforce/CodeGen2#3 prints so
  const auto messages =
      read_messages(clean("RuntimeError: HIP out of memory. Tried to allocate 576.00 MiB (GPU 2; 15.98 GiB "
                          "total capacity; 15.83 GiB "
                          "already allocated; 0 bytes free; 15.84 GiB reserved in total by PyTorch) If "
                          "reserved memory is >> allocated "
                          "memory try setting max_split_size_mb to avoid fragmentation.RuntimeError: HIP out "
                          "of memory. Tried to allocate "
                          "576.00 MiB (GPU 1; 15.98 GiB total capacity; 15.83 GiB already allocated; 0 bytes "
                          "free; 15.84 GiB reserved in "
                          "total by PyTorch)"));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].gpu, 2);
  EXPECT_EQ(messages[1].gpu, 1);
  EXPECT_TRUE(has_form(messages[0], 15));
}

TEST(DiagnosisMessage, JoinsWhatATerminalBroke) {
  const Message m = first(
      "│ \x1b[31mOutOfMemoryError\x1b[0m: CUDA out of memory. Tried to allocate **172.00 MiB** (GPU 0; 23.70 "
      "│\n"
      "│ GiB total capacity; 22.87 GiB already allocated; 120.75 MiB free; 22.89 GiB │\n"
      "│ reserved in total by PyTorch) If reserved memory is &gt;&gt; allocated memory try │\n");
  expect_size(m.numbers.tried, 172 * mib);
  expect_size(m.numbers.capacity, 23.70 * gib);
  expect_size(m.numbers.reserved, 22.89 * gib);
  EXPECT_TRUE(has_form(m, 3));
  const Message html = first(
      "<b>CUDA out of memory.</b> Tried to allocate <code>172.00</code> MiB (GPU 0; 23.70 GiB total "
      "capacity; ");
  expect_size(html.numbers.tried, 172 * mib);
}

TEST(DiagnosisMessage, ReadsATranslationByItsWordsOrByTheOrderOfItsNumbers) {
  const Message words = first(
      "CUDA 内存不足。尝试分配 108.00 MiB。GPU 0 的总容量为 23.68 GiB，其中 34.88 MiB 是空闲的。进程 1170126 "
      "有 2.25 GiB "
      "内存正在使用。");
  EXPECT_TRUE(has_form(words, 14));
  expect_size(words.numbers.tried, 108 * mib);
  expect_size(words.numbers.capacity, 23.68 * gib);
  expect_size(words.numbers.free, 34.88 * mib);
  ASSERT_EQ(words.numbers.processes.size(), 1U);
  EXPECT_EQ(words.numbers.processes[0].id, 1170126U);
  const Message order = first(
      "CUDA out of memory: essai d'allouer 2,00 Gio, 2.00 GiB. La GPU 0 a une capacite de 79.10 GiB dont "
      "8.00 MiB "
      "libres. 77.41 GiB sont alloues et 43.59 MiB sont reserves.");
  expect_size(order.numbers.tried, 2 * gib);
  expect_size(order.numbers.capacity, 79.10 * gib);
  expect_size(order.numbers.free, 8 * mib);
  expect_size(order.numbers.allocated, 77.41 * gib);
}

TEST(DiagnosisMessage, MetalsLabelsArePowersOf1024) {
  // aten/src/ATen/mps/MPSAllocator.mm printed size / 1073741824.0 followed by " GB".
  const Message m = first(
      "RuntimeError: MPS backend out of memory (MPS allocated: 33.48 GB, other allocations: 2.45 GB, max "
      "allowed: 36.27 "
      "GB). Tried to allocate 600.15 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable "
      "upper "
      "limit for memory allocations (may cause system failure).");
  EXPECT_EQ(m.family->kind, MessageKind::unified);
  EXPECT_TRUE(has_form(m, 17));
  expect_size(m.numbers.tried, 600.15 * mib);
  expect_size(m.numbers.capacity, 36.27 * gib);
  expect_size(m.numbers.other, 2.45 * gib);
  const Message newer = first(
      "RuntimeError: MPS backend out of memory (MPS allocated: 9.02 GiB, other allocations: 32.00 KiB, max "
      "allowed: "
      "9.07 GiB). Tried to allocate 256 bytes on shared pool.");
  expect_size(newer.numbers.tried, 256);
  expect_size(newer.numbers.other, 32 * kib);
}

struct Worded {
  const char* text;
  MessageKind kind;
  int row;
  double tried;  // 0: none is printed
};

TEST(DiagnosisMessage, WordsAloneNameWhoRanOut) {
  const Worded lines[] = {
      {"XPU out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.91 GiB.",
       MessageKind::allocator, 16, 2 * gib},
      {"[malloc_or_wait] Unable to allocate 12 bytes.", MessageKind::unified, 18, 12},
      {"[METAL] Command buffer execution failed: Insufficient Memory "
       "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
       MessageKind::unified, 18, 0},
      {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1049100288 bytes.", MessageKind::xla, 19,
       1049100288},
      {"RESOURCE_EXHAUSTED: Attempting to reserve 10.51G at the bottom of memory. That was not possible. "
       "There are "
       "8.97G free, 0B reserved, and 8.97G reservable.",
       MessageKind::xla, 19, 10.51 * gib},
      {"RuntimeError: CUDA error: out of memory", MessageKind::driver, 20, 0},
      {"RuntimeError:CUDA error : out of memory", MessageKind::driver, 20, 0},
      {"torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in "
       "https://docs",
       MessageKind::driver, 20, 0},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
       MessageKind::library, 21, 0},
      {"cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", MessageKind::library, 21, 0},
      {"NCCL WARN Cuda failure 'out of memory'", MessageKind::library, 21, 0},
      {"NCCL WARN Failed to CUDA calloc async 136 bytes", MessageKind::library, 21, 136},
      {"Failed to CUDA calloc (async) 4194304 bytes", MessageKind::library, 21, 4 * mib},
      {"Error out of memory at line 380 in file /mmfs1/bitsandbytes/csrc/pythonInterface.c",
       MessageKind::paged, 22, 0},
      {"Error out of memory at line 396 in file D:\\ops.cu", MessageKind::paged, 22, 0},
      {"Killed", MessageKind::host, 23, 0},
      {"line 21: 3034711 Killed                  python train.py", MessageKind::host, 23, 0},
      {"exits with return code = -9", MessageKind::host, 23, 0},
      {"torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 0",
       MessageKind::host, 23, 0},
      {"Signal 9 (SIGKILL) received by PID 1234", MessageKind::host, 23, 0},
      {"OOMKilled", MessageKind::host, 23, 0},
      {"Memory on the node where the task was running was 445.48GB / 468.75GB (0.95), which exceeds the memory "
       "usage threshold of 0.95. Ray killed this worker because it was the most recently scheduled task.",
       MessageKind::host, 23, 0},
      {"DefaultCPUAllocator: can't allocate memory: you tried to allocate 268435456 bytes. Error code 12",
       MessageKind::host, 23, 256 * mib},
      {"ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
       MessageKind::host, 23, 0},
      {"ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be "
       "stored in KV "
       "cache (3664).",
       MessageKind::startup, 24, 0},
      {"ValueError: No available memory for the cache blocks.", MessageKind::startup, 24, 0},
  };
  for (const Worded& line : lines) {
    const Message m = first(line.text);
    EXPECT_EQ(m.family->kind, line.kind) << line.text;
    EXPECT_TRUE(has_form(m, line.row)) << line.text;
    EXPECT_DOUBLE_EQ(m.numbers.tried ? m.numbers.tried->bytes : 0, line.tried) << line.text;
  }
}

TEST(DiagnosisMessage, ProseIsNoMessage) {
  for (const char* text : {"", "How much memory does LoRA on Mistral-7B need?",
                           "the process was killed by hand", "learning_rate: 2e-4\nnum_epochs: 3\n"}) {
    EXPECT_TRUE(read_messages(clean(text)).empty()) << text;
  }
}

TEST(DiagnosisMessage, FiguresOfTheGpuAreExplainedBeforeTheEndOfTheLauncher) {
  const Message m = first(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
      "79.10 GiB "
      "of which 8.00 MiB is free.\n[INFO] [launch.py:315:sigkill_handler] Killing subprocess 1080504\nexits "
      "with return "
      "code = -9\n");
  EXPECT_EQ(m.family->kind, MessageKind::allocator);
}

TEST(DiagnosisMessage, AskingForMoreThanAnExbibyteIsALowerBound) {  // NVIDIA/nccl#1284
  const Message m = first("CUDA out of memory. Tried to allocate more than 1EB memory.");
  EXPECT_TRUE(m.numbers.at_least);
  expect_size(m.numbers.tried, 1024.0 * 1024 * 1024 * gib);
}

TEST(DiagnosisMessage, ReadsNvidiaSmiItsCardsAndItsProcesses) {
  const GpuTable table = read_gpu_table(
      clean("|   0  Tesla M60          TCC   | 00000000:00:1B.0 Off |                    0 |\n"
            "| N/A   33C    P0    38W / 150W |   7600MiB /  7680MiB |      0%      Default |\n"
            "|   1  Tesla M60          TCC   | 00000000:00:1C.0 Off |                    0 |\n"
            "| N/A   30C    P8    14W / 150W |      9MiB /  7680MiB |      0%      Default |\n"
            "|    0   N/A  N/A      1234      C   python                          7590MiB |\n"));
  ASSERT_EQ(table.cards.size(), 2U);
  EXPECT_EQ(table.cards[0].name, "Tesla M60");
  EXPECT_DOUBLE_EQ(table.cards[0].used, 7600 * mib);
  EXPECT_DOUBLE_EQ(table.cards[1].total, 7680 * mib);
  EXPECT_EQ(table.cards[1].index, 1);
  ASSERT_EQ(table.processes.size(), 1U);
  EXPECT_EQ(table.processes[0].id, 1234U);
  EXPECT_EQ(table.processes[0].name, "python");
  EXPECT_DOUBLE_EQ(table.processes[0].bytes, 7590 * mib);
  const GpuTable line = read_gpu_table(clean("NVIDIA A100-PCIE-40GB 39721MiB / 40960MiB"));
  ASSERT_EQ(line.cards.size(), 1U);
  EXPECT_EQ(line.cards[0].name, "NVIDIA A100-PCIE-40GB");
}

}  // namespace
}  // namespace plimsoll::diagnosis

// RAM of the machine: the kernel, the container or Ray ends the process, or malloc fails.
// Source: pytorch c10/core/impl/alloc_cpu.cpp; deepspeed launcher/launch.py; torch elastic; Kubernetes; Ray.
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"defaultcpuallocator",
                                        "can't allocate memory: you tried",
                                        "code -9",
                                        "code: -9",
                                        "code = -9",
                                        "码-9",
                                        "exitcode: -9",
                                        "exitcode : -9",
                                        "exitcode -9",
                                        "returncode -9",
                                        "exitcode: 137",
                                        "码 -9",
                                        "status -9",
                                        "returned -9",
                                        "exited with -9",
                                        "killed: 9",
                                        "code 137",
                                        "code: 137",
                                        "code = 137",
                                        "status 137",
                                        "signal 9",
                                        "sigterm: killed",
                                        "oomkilled",
                                        "oom-kill",
                                        "oom_kill",
                                        "oom killer",
                                        "out of memory: killed process",
                                        "ray.exceptions.outofmemoryerror",
                                        "outofmemoryerror: task was killed",
                                        "workers were killed due to",
                                        "task was killed due to the node",
                                        "node running low on memory",
                                        "ray oom",
                                        "ray killed this worker",  // node_manager.cc
                                        "exceeds the memory usage threshold",
                                        "oom killed",
                                        "cannot allocate memory",
                                        "std::bad_alloc",
                                        "arraymemoryerror",
                                        "cudahostalloc",
                                        "pinned host memory",  // TensorFlow gpu_host_allocator.h
                                        "bytes on host",
                                        "insufficient shared memory (shm)",  // PyTorch's DataLoader
                                        "out of shared memory. please",
                                        "winerror 1455",  // ERROR_COMMITMENT_LIMIT
                                        "os error 1455",
                                        "paging file is too small",
                                        "notebook tried to allocate more memory",  // Kaggle
                                        "using all available ram",                 // Colab
                                        "is killed by signal",         // a worker of PyTorch's DataLoader
                                        "dataloader worker (pid(s)"};  // the same, seen by who waits for it

// "Killed" alone is the shell's word; "Killing subprocess" is DeepSpeed's after any failure of a rank.
constexpr std::string_view weak_markers[] = {"killed",      "killing subprocess", "sigkill",
                                             "memoryerror", "system ram usage",   "out of ram",
                                             "cpu oom",     "cpu out of memory",  "ram oom"};

constexpr Clause clauses[] = {{&Numbers::tried, "you tried to allocate", ""},
                              {&Numbers::tried, "unable to allocate", "for an array"}};

}  // namespace

const Family host_family = {
    .id = "host",
    .kind = MessageKind::host,
    .what =
        "The machine's RAM ran out, not the GPU's memory: the process was ended, or malloc was "
        "refused.",
    .markers = markers,
    .weak_markers = weak_markers,
    .clauses = clauses,
    .row = 23};

}  // namespace plimsoll::diagnosis

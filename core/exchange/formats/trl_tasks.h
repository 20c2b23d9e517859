// Which of TRL's trainers flat arguments are for, where no command says it.
//
//     # trl dpo --config dpo.yaml        a comment says it
//     desirable_weight: 1.0              a key that one trainer alone has says it
//     beta: 0.1                          more than one has it: DPO is taken, and the task asked for
#pragma once

#include "core/exchange/format.h"

namespace plimsoll::exchange {

/// To be called when all keys have been read and the task is not known; `/task` is set where something says it.
void read_commented_task(Reading& reading);
void read_task_of_own_keys(Reading& reading);
void read_task_of_shared_keys(Reading& reading);

/// Tasks that TRL 1.16 trains, some of them in trl.experimental; SimPO is CPO's without its term of plain text.
constexpr std::string_view trl_tasks = "sft dpo kto grpo rloo reward orpo cpo simpo";
/// What SimPO is said by, in the section `below` of a file or of a script; false: it is for others to write.
bool write_simpo(Writing& out, std::string_view below, const std::string& pointer);
/// The comment that a file for TRL begins with: "# trl grpo --config FILE"; "" where it needs none.
std::string task_comment(const Writing& out);
/// A key that tells the task without the comment, with the value that it has anyway.
void put_task_key(Writing& out);

}  // namespace plimsoll::exchange

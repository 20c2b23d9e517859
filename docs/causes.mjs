// Writes the tables of docs/causes.md from the messages that the tests hold the diagnosis to:
//
//     node docs/causes.mjs
//
// A test fails when a row is missing there, so the page cannot say what the diagnosis does not do.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(`../tests/core/golden/${name}`, import.meta.url), 'utf8'));
const from = { figures: 'the message', frame: 'a frame or words', request: 'the configuration', not_shown: 'no text' };
const named = { 0: 'not named', 1: 'first', 3: 'among the first three' };

const causes = read('causes.json').map(
  (c) => `| \`${c.id}\` | ${from[c.read_from]} | ${c.shown} | ${named[c.place]} | ${c.source ?? ''} |`,
);
const variants = read('oom_variants.json').map((v) => `| ${v.row} | ${v.what} | ${v.source} |`);
// A case of a cause as core/diagnosis/cases.cpp has it: its id, the cause, its title.
const source = readFileSync(new URL('../core/diagnosis/cases.cpp', import.meta.url), 'utf8');
const cases = [...source.matchAll(/\.id = "(\w+)",\s+\.cause = "(\w+)",\s+\.title = "([^"]+)"/g)].map(
  ([, id, cause, title]) => `| \`${id}\` | \`${cause}\` | ${title} |`,
);
const undetectable = read('causes.json').filter((c) => c.read_from === 'not_shown').length;

writeFileSync(
  new URL('causes.md', import.meta.url),
  `# What the diagnosis can tell, and from what

Written by \`node docs/causes.mjs\`; the messages behind the rows lie in \`tests/core/golden/causes.json\` and \`oom_variants.json\`, and the unit
tests put each of them through the diagnosis.

## Causes

Each of the ${causes.length} causes has a message by which it is tested: most are published ones, some have their figures set for the purpose. "Named" says where the cause
stands in the answer to that message. ${undetectable} causes cannot be seen in the text of an error at all; they are explained, never claimed.

| cause | read from | what shows it | named | message after |
|---|---|---|---|---|
${causes.join('\n')}

## Cases of a cause

A setting that does not take effect, and memory that is not the GPU's, have a title and a remedy of their own. A text shows them, or the run of the
request replayed without the setting does: where that asks for the message's size with as much allocated, at the traceback's instant.

| case | of | what it says |
|---|---|---|
${cases.join('\n')}

## Forms of the message

| form | what | message after |
|---|---|---|
${variants.join('\n')}

## How well, on reports never seen before

Reports from public threads were labelled by hand before the diagnosis read them, whole bodies with commands, logs and remarks. A second reading that the labels allow is
counted in brackets.

| round | reports | cause named first | figures right | phase right |
|---|---|---|---|---|
| 1, most with figures | 48 | 34 (37) | 24 of 25 | 15 of 22 |
| 2, most without figures, after the first round was mended | 19 | 5 (11) | 5 of 5 | 7 of 11 |
| 3, with a line of an error | 66 | 40 (52) | 65 of 66 | |
| 3, in words alone | 47 | 25 (33) | | |
| 4, six more sets, each after the last was mended; with a line of an error | 54 | 39 (48) | 54 of 54 | |
| 4, in words alone | 68 | 27 (39) | | |
| 5, settings without effect, the other half (its words were looked at once after the first rules) | 8 | 6 (3 before), 7 with its question answered | | |
| 5, memory that is not the GPU's, likewise | 9 | 8 (4 before) | | |
| 6, the third set (tests/oom/README.md) as read once before any rule was changed | 62 | 31 (43 with its question answered) | | |
| 7, the fourth set likewise, nearly all in words alone | 52 | 30 (34 with its question answered) | | |

Of 9 questions without an error in the same round, 8 were read without a mistake. The texts of round 5 are our own, after public threads.

The replay beside the message (\`core/diagnosis/rerun.h\`) changed no first cause of the 328 labelled messages in this repository and made one right answer surer (72 to 93 %): few
reports state a whole request and the allocated size. Where they do, it names the instant and the tensor, or the contradiction.

Where more was allocated than a request can hold, it is played without each setting (checkpointing, quantisation, sharding, FSDP's wrapping, ZeRO's stage, kernel, loss,
type) and without each two; the settings that explain it, or come nearest, are named.

A frame of what each step does (loss, optimizer, backward) says where the card was full, not what filled it: without a request of a telling size no cause is stated above
70 % for it. A method that nobody stated counts half. Stated above 70 % and wrong: 3 of 266 messages of this repository, 1 of 67, 1 of 31 and 0 of 26 of the other
development sets; 0 of 53 of those only scored.

What was misread was mended each time (46 of 48 and 13 of 19 now, 48 and 18 with the second readings); only the figures of the table say what to expect of the next report: most
of those with figures are explained, of those without a quarter to a half.
`,
);

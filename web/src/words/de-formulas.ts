// German for the formulas of the components (core/run/components.cpp), piece by piece: what a formula is made of, longest first.
// One that holds anything else stays as the core says it.
const NUMBER = "([\\d.,]+)";

/** Whole pieces, as the core joins them by ", ", "; " and " x "; $1, $2 are what it filled in. */
export const FORMULAS: [pattern: RegExp, words: string][] = (
  [
    [`${NUMBER} parameters`, "$1 Parameter"],
    [`${NUMBER} others`, "$1 übrige"],
    [`${NUMBER} bytes`, "$1 Byte"],
    [NUMBER, "$1"],
    ["1 byte and a scale a row", "1 Byte und ein Faktor je Zeile"],
    ["0.516 bytes \\(4 bits, scales in 8 bits\\)", "0,516 Byte (4 Bit, Faktoren in 8 Bit)"],
    ["0.5625 bytes \\(4 bits, a scale for 64\\)", "0,5625 Byte (4 Bit, ein Faktor für 64)"],
    [`${NUMBER} bits and a scale for ${NUMBER}`, "$1 Bit und ein Faktor für $2"],
    [
      `${NUMBER} bits, a scale a row and a codebook a linear`,
      "$1 Bit, ein Faktor je Zeile und ein Codebuch je Matrix",
    ],
    ["for each frozen network", "für jedes Netz, das nur gelesen wird"],
    [
      `${NUMBER} adapter parameters \\(rank ${NUMBER} x \\(in \\+ out\\) of each target\\)`,
      "$1 Parameter der Adapter (Rang $2 mal (Eingänge + Ausgänge) jedes Ziels)",
    ],
    [
      `one value for each of ${NUMBER} trained parameters in its own type, as far as they exist at this moment`,
      "ein Wert für jeden von $1 trainierten Parametern in dessen Typ, soweit sie in diesem Augenblick da sind",
    ],
    [`the input of each of ${NUMBER} layers: ${NUMBER}`, "die Eingabe jeder von $1 Schichten: $2"],
    [`${NUMBER} tokens`, "$1 Token"],
    [`${NUMBER} values`, "$1 Werte"],
    [
      "what the layer at work keeps for its own backward pass",
      "was die Schicht, die gerade rechnet, für ihren Rückwärtslauf behält",
    ],
    [
      `what all ${NUMBER} layers keep for the backward pass`,
      "was alle $1 Schichten für den Rückwärtslauf behalten",
    ],
    [`${NUMBER} words`, "$1 Wörter"],
    [
      "in the copies that the loss holds at this moment \\(kernel: (\\w+)\\)",
      "in den Kopien, die der Verlust in diesem Augenblick hält (Kernel: $1)",
    ],
    [
      "2 bytes for each fp32 weight that autocast cast to 16 bits",
      "2 Byte für jedes fp32-Gewicht, das Autocast nach 16 Bit umgewandelt hat",
    ],
    [
      "results and gradients in flight at this moment",
      "Ergebnisse und Gradienten, die in diesem Augenblick unterwegs sind",
    ],
    ["K and V of every layer", "K und V jeder Schicht"],
    [`${NUMBER} tokens \\(use_cache is on\\)`, "$1 Token (use_cache ist an)"],
    ["ids", "Kennzahlen der Token"],
    ["masks", "Masken"],
    ["labels", "Ziele"],
    [`rotary tables and pixels of ${NUMBER}`, "Drehtabellen und Pixel von $1"],
    [
      "one cuBLAS workspace for the forward thread, one for the backward thread",
      "ein Puffer von cuBLAS für den Vorwärtslauf, einer für den Rückwärtslauf",
    ],
    [
      `parameters that the other ${NUMBER} GPUs hold, fetched for the layer at work, the next one, and what lies outside the layers`,
      "Parameter, die die anderen $1 GPUs halten, geholt für die Schicht, die gerade rechnet, für die nächste und für das, was außerhalb der Schichten liegt",
    ],
    [
      `buffers in which gradients travel between ${NUMBER} GPUs`,
      "Puffer, in denen die Gradienten von $1 GPUs unterwegs sind",
    ],
    ["a frozen copy of the adapters", "eine Kopie der Adapter, die nur gelesen wird"],
    [
      `${NUMBER} of the GPU's memory, or its weights where these are more`,
      "$1 des Speichers der GPU, oder die Gewichte, wo diese mehr sind",
    ],
    [
      "every allocation and release of two steps, fed to the allocator's own rules",
      "jede Belegung und Freigabe zweier Schritte, nach den Regeln des Allokators selbst",
    ],
    [
      `a share of what is made and freed during a step; it comes back when memory runs short`,
      `ein Anteil dessen, was in einem Schritt entsteht und vergeht; er kommt zurück, wenn der Speicher knapp wird`,
    ],
    ["measured, by GPU generation", "gemessen, je Generation der GPUs"],

    // What the optimizers are (core/recipe/optimizers.cpp), after their names.
    ["([^:;]+): no state", "$1: kein Zustand"],
    ["([^:;]+): (?:one|a) state", "$1: ein Zustand"],
    ["([^:;]+): one state in the parameter's dtype", "$1: ein Zustand im Typ des Parameters"],
    ["([^:;]+): two states in the parameter's dtype", "$1: zwei Zustände im Typ des Parameters"],
    ["([^:;]+): one (fp32|bfloat16) state", "$1: ein Zustand in $2"],
    ["([^:;]+): two (fp32|bfloat16) states", "$1: zwei Zustände in $2"],
    ["([^:;]+): three (fp32|bfloat16) states", "$1: drei Zustände in $2"],
    ["([^:;]+): one fp32 state in managed memory", "$1: ein Zustand in fp32, in verwaltetem Speicher"],
    [
      "([^:;]+): two fp32 states in managed memory that PyTorch does not count",
      "$1: zwei Zustände in fp32, in verwaltetem Speicher, den PyTorch nicht zählt",
    ],
    [
      "([^:;]+): three fp32 states in managed memory that PyTorch does not count",
      "$1: drei Zustände in fp32, in verwaltetem Speicher, den PyTorch nicht zählt",
    ],
    [
      "([^:;]+): one one-byte state in managed memory",
      "$1: ein Zustand von einem Byte, in verwaltetem Speicher",
    ],
    [
      "([^:;]+): two one-byte states in managed memory that PyTorch does not count",
      "$1: zwei Zustände von je einem Byte, in verwaltetem Speicher, den PyTorch nicht zählt",
    ],
    [
      "([^:;]+): three one-byte states in managed memory that PyTorch does not count",
      "$1: drei Zustände von je einem Byte, in verwaltetem Speicher, den PyTorch nicht zählt",
    ],
    [
      `([^:;]+): one one-byte state with an fp32 scale for every ${NUMBER} elements`,
      "$1: ein Zustand von einem Byte, mit einem fp32-Faktor je $2 Werte",
    ],
    [
      `([^:;]+): two one-byte states with an fp32 scale for every ${NUMBER} elements`,
      "$1: zwei Zustände von je einem Byte, mit einem fp32-Faktor je $2 Werte",
    ],
    [
      `([^:;]+): two half-byte states with an fp32 scale for every ${NUMBER} elements`,
      "$1: zwei Zustände von je einem halben Byte, mit einem fp32-Faktor je $2 Werte",
    ],
    [
      `([^:;]+): three one-byte states with an fp32 scale for every ${NUMBER} elements`,
      "$1: drei Zustände von je einem Byte, mit einem fp32-Faktor je $2 Werte",
    ],
    ["AdamW of older Transformers", "AdamW älterer Transformers"],
    ["([^:;]+): z in the parameter's dtype", "$1: z im Typ des Parameters"],
    [
      "([^:;]+): z and the second moment in the parameter's dtype",
      "$1: z und das zweite Moment im Typ des Parameters",
    ],
    ["([^:;]+): one momentum in the parameter's dtype", "$1: ein Momentum im Typ des Parameters"],
    ["Newton-Schulz works on one matrix after another", "Newton-Schulz rechnet eine Matrix nach der anderen"],
    [
      "([^:;]+): two moments and a slow mean of the gradients in the parameter's dtype",
      "$1: zwei Momente und ein langsames Mittel der Gradienten im Typ des Parameters",
    ],
    ["([^:;]+): row and column sums of every matrix", "$1: Zeilen- und Spaltensummen jeder Matrix"],
    [
      "and during the step one more copy of all of them",
      "und während des Schritts eine weitere Kopie von allen",
    ],
    ["and a copy of all of it during the step", "und während des Schritts eine Kopie von allem"],
    ["no copies during the step", "keine Kopien während des Schritts"],
    ["one parameter after another", "ein Parameter nach dem anderen"],
    ["one compiled kernel a parameter", "ein übersetzter Kernel je Parameter"],
    ["fused kernel", "in einem Kernel"],
    ["no optimizer: forward and backward alone", "kein Optimierer: nur Vorwärts- und Rückwärtslauf"],
    [
      "each parameter steps as soon as its gradient is there",
      "jeder Parameter macht seinen Schritt, sobald sein Gradient da ist",
    ],
  ] as [string, string][]
).map(([pattern, words]) => [new RegExp(`^${pattern}$`), words]);

const JOINTS = /(; |, | x )/;

/** The whole of a text, or as much of it as one piece takes, and then the rest. */
export function formula(english: string): string | undefined {
  const parts = english.split(JOINTS);
  for (let taken = parts.length; taken > 0; taken -= 2) {
    const head = parts.slice(0, taken).join("");
    const found = FORMULAS.find(([pattern]) => pattern.test(head));
    if (!found) continue;
    const said = head.replace(found[0], found[1]);
    if (taken === parts.length) return said;
    const tail = formula(parts.slice(taken + 1).join(""));
    if (tail === undefined) continue;
    const joint = parts[taken] === " x " ? " × " : parts[taken];
    return `${said}${joint}${tail}`;
  }
  return undefined;
}

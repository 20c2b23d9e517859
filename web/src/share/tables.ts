// The report as a table for places that show text: Markdown for issues and wikis, CSV for spreadsheets.
import { capital } from "../advice/fixes.ts";
import type { Plan, Report, Request } from "../contract.ts";
import { label } from "../colours.ts";
import { sizeExact, size } from "../format.ts";
import { headline } from "../headline.ts";
import { peakInstant } from "../peak.ts";
import { dotted, plain } from "../pointer.ts";
import { stacked } from "../bar.ts";
import { say } from "../words/say.ts";
import { describe } from "./describe.ts";

/** Text that may hold anything, as one cell: no line ends, no cell ends, no markup. */
const markdownCell = (text: string) => text.replace(/\s+/g, " ").replace(/[\\|<>*_`[\]]/g, "\\$&");

export function markdown(report: Report, request: Request, address: string): string {
  const { model, batch } = describe(report, request);
  const instant = peakInstant(report);
  const rows = stacked(instant?.components ?? []).map(
    (each) => `| ${markdownCell(label(each.id))} | ${sizeExact(each.bytes)} | ${markdownCell(each.what)} |`,
  );
  const { peak } = report.memory;
  return [
    `**${markdownCell(headline(report))}** (${markdownCell(model)}, ${markdownCell(batch)})`,
    "",
    `| ${say("table.component")} | ${say("table.gib")} | ${say("table.what")} |`,
    "|---|---:|---|",
    ...rows,
    `| **${say("table.allocated")}** | **${sizeExact(peak.allocated)}** | |`,
    `| **${say("table.reserved")}** | **${sizeExact(peak.reserved)}** | |`,
    `| **${say("table.device")}** | **${sizeExact(peak.device)}** | ${size(peak.low)} – ${size(peak.high)} |`,
    "",
    `[Plimsoll ${report.core}](${address})`,
    "",
  ].join("\n");
}

/** A plan as before and after, with a reason for each row: what is changed, then what that does. */
export function planTable(plan: Plan, before: Report): string {
  const cells = (...texts: string[]) => `| ${texts.map(markdownCell).join(" | ")} |`;
  const step = say(plan.time_factor > 1 ? "plan.slower" : "plan.faster", {
    percent: `${Math.round(Math.abs(plan.time_factor - 1) * 100)} %`,
  });
  const sizes = (["allocated", "reserved", "device"] as const).map((figure) =>
    cells(say(`table.${figure}`), size(before.memory.peak[figure]), size(plan.peak[figure]), "", ""),
  );
  return [
    cells(say("plan.change"), say("cases.before"), say("cases.after"), say("plan.why"), say("plan.saves")),
    "|---|---|---|---|---:|",
    ...plan.changes.map(({ pointer, from, to, why, saves }) =>
      cells(
        dotted(pointer),
        plain(from),
        plain(to),
        why,
        `${saves < 0 ? "\u2212" : ""}${size(Math.abs(saves))}`,
      ),
    ),
    ...sizes,
    "",
    markdownCell(
      `${capital(plan.time_factor === 1 ? say("plan.same_speed") : step)}. ${say(`quality.${plan.quality}`)} ${say("plan.batch", { batch: plan.effective_batch })}`,
    ),
    "",
  ].join("\n");
}

/** RFC 4180; a cell that a spreadsheet would take for a formula is made text. */
const csvCell = (value: string | number) => {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function csv(report: Report): string {
  const rows: (string | number)[][] = [["instant", "component", "bytes", "what", "formula", "source"]];
  for (const instant of report.memory.instants) {
    for (const each of instant.components) {
      rows.push([instant.id, each.id, each.bytes, each.what, each.formula, each.source]);
    }
    for (const figure of ["allocated", "reserved", "device"] as const) {
      rows.push([instant.id, figure, instant[figure], "", "", ""]);
    }
  }
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

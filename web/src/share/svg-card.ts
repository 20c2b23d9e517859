// The answer as a picture that stands alone: no style sheet, no script, no font of its own, so that it survives in a
// wiki, an issue or a slide. Colours are those of the light theme.
import { stacked } from "../bar.ts";
import { label, paint } from "../colours.ts";
import type { Report, Request } from "../contract.ts";
import { sizeWords, size } from "../format.ts";
import { headline } from "../headline.ts";
import { VERDICTS } from "../names.ts";
import { peakComponents } from "../peak.ts";
import { say } from "../words/say.ts";
import { describe } from "./describe.ts";

const INK = { fits: "#17653a", tight: "#7d4f00", no: "#a4201f", none: "#16202a" };
const FONT = `font-family="-apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"`;

const escapeXml = (text: string) =>
  text
    .replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, " ");

const round = (value: number) => Math.round(value * 100) / 100;

/** Of a letter, in units of its size: they cannot be measured here, so each is taken for a wide one. */
const LETTER = 0.56;
const fontSize = (text: string, most: number, width: number) =>
  round(Math.min(most, width / (LETTER * Math.max(1, text.length))));

/** A headline in one line, or in two about as long. */
function headlines(words: string, ink: string, width: number): string {
  const spaces = [...words.matchAll(/ /g)].map(({ index }) => index);
  const off = (at: number) => Math.abs(at - words.length / 2);
  const [middle] = fontSize(words, 20, width) < 20 ? spaces.sort((one, other) => off(one) - off(other)) : [];
  const lines = middle === undefined ? [words] : [words.slice(0, middle), words.slice(middle + 1)];
  const size = Math.min(...lines.map((line) => fontSize(line, lines.length > 1 ? 18 : 20, width)));
  return lines
    .map((line, index) => {
      const y = (lines.length > 1 ? 28 : 36) + 22 * index;
      return `<text x="20" y="${y}" font-size="${size}" font-weight="600" fill="${ink}">${escapeXml(line)}</text>`;
    })
    .join("");
}

/** 640 x 212 units. */
export function svgCard(report: Report, request: Request): string {
  const { peak } = report.memory;
  const gpu = report.gpu ?? undefined;
  const { model, batch } = describe(report, request);
  const [left, width, top, height] = [20, 600, 92, 32];
  const end = Math.max(peak.device, peak.high, gpu?.usable ?? 0) * 1.04;
  const place = (bytes: number) => (width * bytes) / end;
  let from = 0;
  const shown = stacked(peakComponents(report));
  const bars = shown.map((each) => {
    const start = place(from);
    from += each.bytes;
    return `<rect x="${round(left + start)}" y="${top}" width="${round(place(from) - start)}" height="${height}" fill="${paint(each.id).light}"/>`;
  });
  const line = left + place(gpu?.usable ?? 0);
  // As many as there is room for: the letters of a picture cannot be measured, so each is taken for a wide one.
  let at = left;
  const legend = [...shown]
    .sort((one, other) => other.bytes - one.bytes)
    .map((each) => {
      const text = `${label(each.id)} ${size(each.bytes)}`;
      const from = at;
      at += 15 + 6.4 * text.length + 14;
      return at > left + width + 14
        ? ""
        : `<rect x="${round(from)}" y="158" width="10" height="10" rx="2" fill="${paint(each.id).light}"/>` +
            `<text x="${round(from + 15)}" y="167" font-size="12" fill="#51606d">${escapeXml(text)}</text>`;
    });
  const title = headline(report, request);
  const head = headlines(
    gpu ? `${VERDICTS[gpu.verdict].sign} ${title}` : title,
    INK[gpu?.verdict ?? "none"],
    width,
  );
  const what = `${model}; ${batch}`;
  const below = head.split("<text").length > 2 ? 70 : 60;
  const usable = gpu ? say("card.usable", { usable: sizeWords(gpu.usable) }) : "";
  // Beside the line, on the side that has the room.
  const before = line - left > 7 * usable.length;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 212" width="640" height="212" role="img" aria-label="${escapeXml(title)}" ${FONT}>`,
    `<rect x="0.5" y="0.5" width="639" height="211" rx="8" fill="#ffffff" stroke="#d3dade"/>`,
    head,
    `<text x="20" y="${below}" font-size="${fontSize(what, 14, width)}" fill="#51606d">${escapeXml(what)}</text>`,
    ...bars,
    gpu
      ? `<path d="M${round(line)} ${top - 12}v${height + 24}" stroke="#16202a" stroke-width="2"/>` +
        `<text x="${round(line + (before ? -6 : 6))}" y="${top - 6}" font-size="12" text-anchor="${before ? "end" : "start"}" fill="#16202a">${escapeXml(usable)}</text>`
      : "",
    `<path d="M${round(left + place(peak.low))} 130v8m0 -4H${round(left + place(peak.high))}m0 -4v8" stroke="#16202a" fill="none"/>`,
    ...legend,
    `<text x="20" y="196" font-size="12" fill="#51606d">${escapeXml(say("card.peak", { device: sizeWords(peak.device), low: sizeWords(peak.low), high: sizeWords(peak.high) }))}</text>`,
    `<text x="620" y="196" font-size="12" text-anchor="end" fill="#51606d">Plimsoll ${escapeXml(report.core)}</text>`,
    "</svg>\n",
  ].join("");
}

/** One line, 20 units high, in the manner of the badges at the top of a README. */
export function svgBadge(report: Report): string {
  const gpu = report.gpu ?? undefined;
  const left = "plimsoll";
  const right = gpu
    ? `${sizeWords(report.memory.peak.device)} / ${sizeWords(gpu.usable)} ${VERDICTS[gpu.verdict].word}`
    : sizeWords(report.memory.peak.device);
  const advance = (text: string) => Math.round(text.length * 6.6) + 12;
  const [one, two] = [advance(left), advance(right)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${one + two}" height="20" role="img" aria-label="${escapeXml(headline(report))}" font-size="11" ${FONT}>`,
    `<rect width="${one + two}" height="20" rx="3" fill="#41505c"/>`,
    `<path d="M${one} 0h${two - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h${3 - two}z" fill="${INK[gpu?.verdict ?? "none"]}"/>`,
    `<text x="${one / 2}" y="14" text-anchor="middle" fill="#ffffff">${left}</text>`,
    `<text x="${one + two / 2}" y="14" text-anchor="middle" fill="#ffffff">${escapeXml(right)}</text>`,
    "</svg>\n",
  ].join("");
}

/** The card as a picture of dots, twice as fine as its units. */
export async function png(svg: string): Promise<Blob> {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * 2;
    canvas.height = image.naturalHeight * 2;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (!blob) throw new Error("no picture was made");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}

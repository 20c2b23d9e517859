// A text as a QR code: one outline in units of its squares, quiet zone included, for an SVG of the same units.
import { encode } from "uqr";

/** Four squares of quiet around it, as ISO/IEC 18004 asks. */
const QUIET = 4;

export interface Code {
  size: number;
  /** Data of an SVG path: the dark squares, neighbours of a row in one piece. */
  path: string;
}

export function code(text: string): Code {
  const { data, size } = encode(text, { ecc: "L", border: QUIET });
  const pieces: string[] = [];
  data.forEach((row, y) => {
    for (let x = 0; x < size; ++x) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) ++x;
      pieces.push(`M${from} ${y}h${x + 1 - from}v1h${from - x - 1}z`);
    }
  });
  return { size, path: pieces.join("") };
}

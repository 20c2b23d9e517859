import { PAINTS } from "../../web/src/colours.ts";
import { expect, test } from "./page.ts";

type Triple = [number, number, number];
const SURFACES = { light: ["#ffffff", "#f4f6f7"], dark: ["#171e24", "#0f1418"] } as const;

const linear = (hex: string) =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;

const luminance = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(linear(one)), luminance(linear(other))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// Machado, Oliveira and Fernandes 2009, severity 1.0, in linear RGB.
const SIGHT: Record<string, [Triple, Triple, Triple]> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function seen(hex: string, sight: [Triple, Triple, Triple]): Triple {
  const [r, g, b] = linear(hex);
  const [x = 0, y = 0, z = 0] = sight.map((row) =>
    Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b)),
  );
  return [x, y, z];
}

function lab(colour: Triple): Triple {
  const [r, g, b] = colour;
  const bend = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = bend((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = bend(luminance(colour));
  const z = bend((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

for (const theme of ["light", "dark"] as const) {
  test(`every component stands out from the page by 3:1, ${theme}`, () => {
    for (const [id, paint] of Object.entries(PAINTS)) {
      for (const surface of SURFACES[theme]) {
        expect(contrast(paint[theme], surface), `${id} on ${surface}`).toBeGreaterThanOrEqual(3);
      }
    }
  });

  test(`every two components stay apart whatever the colour vision, ${theme}`, () => {
    const paints = Object.entries(PAINTS);
    for (const [name, sight] of Object.entries(SIGHT)) {
      for (const [index, [one, paint]] of paints.entries()) {
        for (const [other, against] of paints.slice(index + 1)) {
          const distance = Math.hypot(
            ...lab(seen(paint[theme], sight)).map(
              (value, axis) => value - (lab(seen(against[theme], sight))[axis] ?? 0),
            ),
          );
          expect(distance, `${one} and ${other}, ${name}`).toBeGreaterThan(15);
        }
      }
    }
  });
}

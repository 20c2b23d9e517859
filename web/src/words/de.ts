import type { Words } from "./say.ts";
import { EN } from "./en.ts";
export const DE: Words = EN;

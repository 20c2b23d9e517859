// Adds the words of the later parts; imported before the first of them is drawn.
import { EN_REST } from "./en-rest.ts";
import { addWords } from "./say.ts";

addWords(EN_REST);

// Only the address of the other presets: whoever imports this has the first answer already.
import restUrl from "plimsoll-core/rest.txt?url";
import { fetchText } from "./presets.ts";

export const fetchOthers = (): Promise<string> => fetchText(restUrl);

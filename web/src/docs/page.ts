// What every page of the documentation begins with.
import "../styles/tokens.css";
import "../styles/page.css";
import "../styles/panel.css";
import "../styles/form.css";
import "../styles/answer.css";
import "../styles/advice.css";
import "../styles/tables.css";
import "../styles/found.css";
import "../styles/controls.css";
import "../styles/docs.css";
import "../styles/print.css";
import { adoptColours } from "../colours.ts";
import { asTheme, remembered, wear } from "../theme.ts";

wear(asTheme(remembered()));
adoptColours(document);

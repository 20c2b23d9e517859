import "./page.ts";

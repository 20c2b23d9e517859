// The English words of the page, by where they are used. {names} in braces are filled in.
export const EN = {
  "headline.fits": "Fits the {gpu} with {by} to spare",
  "headline.tight": "Tight on the {gpu}: {by} to spare if all goes as estimated",
  "headline.no": "Does not fit the {gpu}: {by} too much",
  "headline.needs": "Needs {size}",

  "card.open": "Open in Plimsoll",
  "card.model": "{model}, {method}",
  "card.full": "full fine-tuning",
  "card.lora": "LoRA, rank {rank}",
  "card.qlora": "QLoRA, rank {rank}",
  "card.batch": "batch {batch}, {length} tokens",
  "card.peak": "peak {device}, between {low} and {high}",
  "card.usable": "load line {usable}",
  "card.line": "{device} at the peak against {usable} usable",
  "card.broken": "This card's link could not be read.",
  "card.refused": "The core does not accept this request: {message}",

  "share.title": "Take it with you",
  "share.caption":
    "The address of this page is the whole request. The rest is made from the same report, here in the browser.",
  "share.link": "Copy link",
  "share.markdown": "Copy Markdown table",
  "share.json": "Copy report, JSON",
  "share.csv": "Download CSV",
  "share.svg": "Download card, SVG",
  "share.badge": "Download badge, SVG",
  "share.png": "Download card, PNG",
  "share.iframe": "Copy embed code",
  "share.builder": "Build an embedded card",
  "share.done": "Done: {what}.",
  "share.failed": "The browser did not allow it: {what}. The text is below, to be copied by hand.",

  "table.component": "Component",
  "table.gib": "GiB",
  "table.what": "What it is",
  "table.allocated": "PyTorch allocated",
  "table.reserved": "PyTorch reserved",
  "table.device": "On the device",

  "preferences.theme": "Theme",
  "preferences.system": "as the system",
  "preferences.light": "light",
  "preferences.dark": "dark",
  "preferences.language": "Language",

  "update.ready": "A newer Plimsoll has been fetched.",
  "update.use": "Use it now",
  "update.later": "Later",
  "offline.ready": "Plimsoll now also works without a network.",

  "link.was": "This link was made by Plimsoll {version}, which said {was}; now it is {now}.",
} as const;

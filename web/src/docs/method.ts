// The components of a real report, with the texts that the core itself gives.
import "./page.ts";
import { html, nothing, render } from "lit";
import { stacked, swatch } from "../bar.ts";
import { label } from "../colours.ts";
import type { Component } from "../contract.ts";
import { loadCore } from "../core.ts";
import { size } from "../format.ts";
import { loadMore } from "../more.ts";

const place = document.getElementById("components");
const core = await loadCore();
const example = core.scenarios.find((scenario) => scenario.id === "d-after") ?? core.scenarios[0];
const report = await (await loadMore()).weigh(example?.request ?? {});

/** Each component once, where it is largest. */
function largest(components: Component[]): Component[] {
  const byId = new Map<string, Component>();
  for (const each of components) {
    if (each.bytes > (byId.get(each.id)?.bytes ?? 0)) byId.set(each.id, each);
  }
  return stacked([...byId.values()]);
}

if (place && report.ok) {
  const components = largest(report.memory.instants.flatMap((instant) => instant.components));
  render(
    html`<dl class="components">
      ${components.map(
        (each) =>
          html`<div class="panel">
            <dt>${swatch(each.id)} <b>${label(each.id)}</b>, ${size(each.bytes)} here</dt>
            <dd>
              <p>${each.what}</p>
              <p class="formula">${each.formula}</p>
              ${each.source ? html`<p><small>${each.source}</small></p>` : nothing}
            </dd>
          </div>`,
      )}
    </dl>`,
    place,
  );
}

// The list of strategies: bots, stored solutions and spots, and mixes.
import { api, html, Link, Problem, roughly, strategyAddress, useEffect, useState } from "../lib.js";

const GROUPS = [
  ["Solved spots", (entry) => entry.kind === "spot"],
  ["Bots", (entry) => entry.kind === "bot" && !entry.command],
  ["Solutions", (entry) => ["solution", "strategy"].includes(entry.kind)],
  ["Fixed mixes", (entry) => entry.kind === "mix"],
];

export function Strategies() {
  const [entries, setEntries] = useState([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = "Strategies · Equilibrist";
    api("/api/strategies").then(setEntries, (error) => setProblem(error.message));
  }, []);
  const untrained = entries.filter((entry) => entry.command);
  return html`<main class="narrow">
    <h1>Strategies</h1>
    <${Problem} text=${problem} />
    ${GROUPS.map(([title, belongs]) => {
      const found = entries.filter(belongs);
      return found.length > 0 && html`<section><h2>${title}</h2><ul class="tiles">
        ${found.map((entry) => html`<li key=${entry.name}><${Link} class="tile" to=${strategyAddress(entry.name, entry.kind)}>
          <b>${entry.name}</b><span class="muted">${entry.description}</span></${Link}></li>`)}
      </ul></section>`;
    })}
    ${untrained.length > 0 && html`<details class="untrained"><summary>${untrained.length === 1 ? "One more bot" : `${untrained.length} more bots`} can be trained</summary>
      <ul class="rows">${untrained.map((entry) => html`<li class="row" key=${entry.name}>
        <span class="grow"><b>${entry.name}</b> <span class="muted">${entry.description}</span></span>
        <code>${entry.command}</code><span class="muted num">${roughly(entry.minutes)}</span></li>`)}</ul></details>`}
  </main>`;
}

// What else can be done at a node of a solved spot: every next card, and solving it with a lock.
import { html, Link } from "./lib.js";

/** The lock that fixes a node to its frequencies; the last action takes the rest. */
function lockOf(found) {
  const parts = found.data.actions.slice(0, -1).map((action) => `${action.name}=${action.frequency.toFixed(2)}`);
  return `${found.node}: ${parts.join("; ")}`;
}

export function SpotLinks({ name, found }) {
  if (found.kind !== "spot") return null;
  const start = found.start_board;
  // The node before the last card: its betting ends with the slash of that card.
  const dealt = found.node.lastIndexOf("/");
  const runout = found.board.slice(start.length, found.steps.at(-1).num_board * 2 - 2);
  const before = new URLSearchParams({ node: found.node.slice(0, dealt), runout });
  const again = new URLSearchParams({ from: name, ...(found.data ? { lock: lockOf(found) } : {}) });
  const isWhole = !name.includes("/");
  return html`<p class="spotlinks small">
    ${dealt >= 0 && html`<${Link} to=${`/runouts/${name.split("/").map(encodeURIComponent).join("/")}#${before}`}>All cards</${Link}>`}
    ${isWhole && html`<${Link} to=${`/spots/new#from=${encodeURIComponent(name)}`}>Change the spot</${Link}>`}
    ${isWhole && found.data && html`<${Link} to=${`/spots/new#${again}`}>Lock this decision</${Link}>`}
  </p>`;
}

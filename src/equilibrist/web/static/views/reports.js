// Reports: every card that can be dealt after a node, and one situation on many flops.
import { CardText } from "../cards.js";
import { brief } from "../compute.js";
import { html, Link, percent, Problem, strategyAddress, useEffect, useHash, useKnown, usePalette } from "../lib.js";

const RANKS = "AKQJT98765432";

function Legend({ words, colours, shares, palette }) {
  return html`<ul class="legend">${words.map((text, i) => html`<li><i style=${{ background: colours[i][palette] }}></i>${text}${shares ? html` <b class="num">${percent(shares[i], 1)}</b>` : ""}</li>`)}</ul>`;
}

function Bar({ shares, colours, palette }) {
  return html`<span class="bar">${shares.map((share, i) => html`<span class="part" style=${{ width: `${100 * share}%`, background: colours[i][palette] }}></span>`)}</span>`;
}

// --- runouts ---------------------------------------------------------------------------------------

export function Runouts({ name }) {
  const [{ node = "", runout = "" }] = useHash();
  const found = useKnown(`/api/runouts?${new URLSearchParams({ name, node, runout })}`);
  const [palette] = usePalette();
  useEffect(() => {
    document.title = `Runouts of ${name} · Equilibrist`;
  }, [name]);
  const head = html`<div class="title"><h1>Runouts</h1><${Link} to=${`${strategyAddress(name, "spot")}#node=${node}${runout ? `&runout=${runout}` : ""}`}>${name}</${Link}></div>`;
  if (!found?.cards) return html`<main class="wide">${head}${found ? html`<${Problem} text=${found.reason} />` : html`<p class="muted">Reading every card …</p>`}</main>`;
  const { cards, colours } = found;
  const [first] = cards;
  const by = Object.fromEntries(cards.map((each) => [each.card, each]));
  const mean = (key) => cards.reduce((sum, each) => sum + each[key], 0) / cards.length;
  const means = first.actions.map((_, i) => cards.reduce((sum, each) => sum + each.frequencies[i], 0) / cards.length);
  const equities = cards.map((each) => each.equity);
  const [low, high] = [Math.min(...equities), Math.max(...equities)];
  return html`<main class="wide runouts">${head}
    <p class="muted">What the player ${first.player === "oop" ? "out of position" : "in position"} does first on each card after ${first.words.replace(/; .*$/, "")}. Mean over the cards: equity ${percent(mean("equity"), 1)}, expects ${brief(mean("value"))} ${first.unit}.</p>
    <${Legend} words=${first.action_words} colours=${colours} shares=${means} palette=${palette} />
    <div class="cardmatrix">${["s", "h", "d", "c"].map((suit) => html`<div>${[...RANKS].map((rank) => {
      const each = by[rank + suit];
      if (!each) return html`<span class="tilecard gone"><${CardText} cards=${rank + suit} /></span>`;
      const warmth = high > low ? (each.equity - low) / (high - low) : 0.5;
      return html`<${Link} class="tilecard" to=${`${strategyAddress(name, "spot")}#node=${each.node}&runout=${runout}${each.card}`} title=${`${each.card}: ${each.action_words.map((text, i) => `${text} ${percent(each.frequencies[i], 1)}`).join(", ")}; equity ${percent(each.equity, 1)}`}>
        <${CardText} cards=${each.card} /><span class="equity num" style=${{ "--warmth": `${Math.round(100 * warmth)}%` }}>${percent(each.equity)}</span><${Bar} shares=${each.frequencies} colours=${colours} palette=${palette} /></${Link}>`;
    })}</div>`)}</div>
    <p class="muted small">Above the bar: equity of the player to act. Point at a card for its numbers; click to see its hands.</p>
  </main>`;
}

// --- flops -----------------------------------------------------------------------------------------

const GROUPS = { "": "every flop", suits: "suits", pairs: "pairs", high: "highest card" };

export function Flops({ name }) {
  const [{ node = "", by = "" }, show] = useHash();
  const found = useKnown(`/api/flops?${new URLSearchParams({ name, node, by })}`);
  const [palette] = usePalette();
  useEffect(() => {
    document.title = `${name} · Equilibrist`;
  }, [name]);
  if (!found?.flops) return html`<main class="wide"><h1>${name}</h1>${found ? html`<${Problem} text=${found.reason} />` : html`<p class="muted">Reading every flop …</p>`}</main>`;
  const at = found.nodes.at(-1);
  const shares = (row) => at.actions.map((action) => row[`${at.name} ${action}`]);
  const isGrouped = by !== "" && found.groups !== undefined; // the answer for an earlier address may still be shown
  const rows = isGrouped ? found.groups : found.flops;
  const seat = at.player === 0 ? "out of position" : "in position";
  const next = found.nodes[0].actions.filter((action) => action !== "f");
  return html`<main class="wide flops"><div class="title"><h1>${name}</h1><span class="muted">pot ${found.pot.toLocaleString("en")} ${found.unit}, ${found.flops.length} of ${found.num_flops.toLocaleString("en")} flops</span></div>
    <div class="controls"><label>Decision <input size="10" placeholder="first" value=${node} spellcheck=${false} onChange=${(event) => show({ node: event.target.value.trim() })} /></label>
      <span class="boardbuttons"><button class="size" aria-pressed=${node === ""} onClick=${() => show({ node: "" })}>First</button>${next.map((action, i) => html`<button class="size" aria-pressed=${node === action} onClick=${() => show({ node: action })}>After ${found.nodes[0].words[found.nodes[0].actions.indexOf(action)]}</button>`)}</span>
      <label>Rows <select value=${by} onChange=${(event) => show({ by: event.target.value })}>${Object.entries(GROUPS).map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select></label></div>
    <p class="muted">What the player ${seat} does${node ? ` after ${node}` : " first"}. Mean equity of the player out of position ${percent(found.subset_equity, 2)}; over all flops ${percent(found.all_equity, 2)}.</p>
    <${Legend} words=${at.words} colours=${at.colours} shares=${shares(found.mean)} palette=${palette} />
    <div class="scroller"><table class="report"><thead><tr><th>${isGrouped ? GROUPS[by] : "Flop"}</th><th>Weight</th><th>Equity oop</th><th>EV oop</th><th>EV ip</th><th class="wide">Actions</th><th>Expl.</th></tr></thead>
      <tbody>${[...rows, { ...found.mean, flop: "mean" }].map((row) => html`<tr class=${row.flop === "mean" ? "mean" : ""}>
        <th>${isGrouped && row.flop !== "mean" ? row[by] : row.flop === "mean" ? "mean" : html`<${Link} to=${strategyAddress(`${name}/${row.flop}`, "spot")}><${CardText} cards=${row.flop} /></${Link}>`}</th>
        <td class="num">${percent(row.weight, 2)}</td><td class="num">${percent(row.equity_oop, 1)}</td><td class="num">${row.ev_oop.toFixed(2)}</td><td class="num">${row.ev_ip.toFixed(2)}</td>
        <td class="wide"><${Bar} shares=${shares(row)} colours=${at.colours} palette=${palette} /><span class="num muted small">${shares(row).map((share) => percent(share)).join(" · ")}</span></td>
        <td class="num muted">${brief(row.percent_of_pot)} %</td></tr>`)}</tbody></table></div>
  </main>`;
}

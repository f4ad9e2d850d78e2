// The 13 × 13 grid of hands, one cell by suits, and lists of hands.
import { CardText } from "../cards.js";
import { fixed, html, percent, probability, useMemo, useRef } from "../lib.js";

const RANKS = "AKQJT98765432";
const SUITS = "shdc";
const RARE = 0.005; // share of the fullest cell's reach below which a cell is empty
const SAME = 1e-6; // values that differ by less are equally good
export const TABS = { actions: "Actions", ev: "EV", equity: "Equity", best: "Best response" };
// Low to high: red to green, and for colour-blind readers dark blue to yellow (cividis).
const SCALES = {
  usual: [[214, 72, 72], [240, 190, 84], [92, 176, 112]],
  "colour-blind": [[28, 62, 112], [124, 123, 120], [253, 231, 85]],
};

export function cellName(place) {
  const row = Math.floor(place / 13);
  const column = place % 13;
  if (row === column) return RANKS[row] + RANKS[row];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
}

export function cellOf(name) {
  const [high, low] = [RANKS.indexOf(name[0]), RANKS.indexOf(name[1])];
  if (high < 0 || low < 0) return null;
  return name[2] === "o" ? 13 * low + high : 13 * high + low;
}

/** The probabilities of a best response: the actions with the highest value, in equal shares. */
function bestShares(values) {
  const most = Math.max(...values);
  const best = values.map((value) => value >= most - SAME);
  const number = best.filter(Boolean).length;
  return best.map((is) => (is ? 1 / number : 0));
}

/** What each hand does, or would do as a best response. */
export function playOf(data, numbers, tab) {
  return tab === "best" && numbers?.best ? numbers.best.map(bestShares) : data.hands.probabilities;
}

/** The number that a tab shows for each hand; null: none is known. */
export function numbersOf(data, numbers, tab) {
  if (tab === "equity") return numbers?.equity ?? data.hands.equity;
  if (tab === "ev") {
    const values = numbers?.values ?? data.hands.values;
    return values && values.map((own, place) => own.reduce((sum, value, i) => sum + value * data.hands.probabilities[place][i], 0));
  }
  return null;
}

/** The 169 cells: reach beside the fullest cell, mean play, and mean number, of the hands shown. */
export function cellsOf(data, play, numbers, isShown) {
  const { hands, grid, actions, fullest } = data;
  const empty = () => ({ weight: 0, all: 0, play: actions.map(() => 0), number: 0, counted: 0 });
  const cells = Array.from({ length: 169 }, empty);
  const reached = new Array(169).fill(0);
  hands.cells.forEach((cell, place) => (reached[cell] += hands.reach[place]));
  hands.cells.forEach((cell, place) => {
    const weight = reached[cell] > 0 ? hands.reach[place] : 1;
    const own = cells[cell];
    own.all += weight;
    if (!isShown(place)) return;
    own.weight += weight;
    play[place].forEach((share, i) => (own.play[i] += weight * share));
    const number = numbers?.[place];
    if (number !== null && number !== undefined) {
      own.number += weight * number;
      own.counted += weight;
    }
  });
  return cells.map((own, place) => {
    const level = own.all > 0 && grid.is_possible[place] ? grid.level[place] * (own.weight / own.all) : 0;
    return {
      level,
      isPossible: grid.is_possible[place],
      isReached: grid.is_possible[place] && level >= RARE && (fullest === 0 || reached[place] > 0),
      play: own.play.map((sum) => (own.weight > 0 ? sum / own.weight : 0)),
      number: own.counted > 0 ? own.number / own.counted : null,
    };
  });
}

export function stripes(shares, colours) {
  let from = 0;
  const parts = [];
  shares.forEach((share, place) => {
    if (share <= 0) return;
    const to = from + 100 * share;
    parts.push(`${colours[place]} ${from.toFixed(2)}% ${to.toFixed(2)}%`);
    from = to;
  });
  if (parts.length && from < 99.99) parts.push(`transparent ${from.toFixed(2)}%`);
  return parts.length ? `linear-gradient(to right, ${parts.join(", ")})` : "none";
}

/** A colour between low and high, for a share from 0 to 1. */
export function heat(share, palette) {
  const scale = SCALES[palette];
  const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  const mixed = scale[low].map((part, i) => Math.round(part + (at - low) * (scale[low + 1][i] - part)));
  return `rgb(${mixed.join(" ")})`;
}

function number(value, tab, unit) {
  return tab === "equity" ? Math.round(100 * value) : fixed(value, unit === "chips" && Math.abs(value) >= 10 ? 0 : 1);
}

/** Looks of cells by their actions or numbers. */
export function plainLooks(cells, data, tab, palette) {
  const colours = data.actions.map((action) => action.colours[palette]);
  const known = cells.filter((cell) => cell.isReached && cell.number !== null).map((cell) => cell.number);
  const [low, high] = tab === "equity" ? [0, 1] : [Math.min(...known), Math.max(...known)];
  const middle = tab === "equity" ? 0.5 : known.reduce((sum, each) => sum + each, 0) / known.length;
  const share = (value) => (value < middle ? (value - low) / (middle - low || 1) : 1 + (value - middle) / (high - middle || 1)) / 2;
  const isHeat = known.length > 0;
  return cells.map((cell, place) => {
    const height = `100% ${(100 * cell.level).toFixed(1)}%`;
    let style = {};
    let text = "";
    if (cell.isReached && isHeat && cell.number !== null) {
      const colour = heat(share(cell.number), palette);
      style = { backgroundImage: `linear-gradient(${colour}, ${colour})`, backgroundSize: height };
      text = number(cell.number, tab, data.unit);
    } else if (cell.isReached && !isHeat) {
      style = { backgroundImage: stripes(cell.play, colours), backgroundSize: height };
    }
    const shares = data.actions.map((action, i) => `${action.words} ${percent(cell.play[i])}`).join(", ");
    return { ...lookOf(cell), style, text, label: labelOf(place, cell, text || shares) };
  });
}

/** Looks of cells by how two strategies differ: above what the first does more, below the other. */
export function differenceLooks(mine, theirs, data, other, palette) {
  const names = [...new Set([...data.actions, ...other.actions].map((action) => action.name))];
  const colour = (name) => (data.actions.find((each) => each.name === name) ?? other.actions.find((each) => each.name === name)).colours[palette];
  const colours = names.map(colour);
  const share = (node, cell, name) => {
    const place = node.actions.findIndex((action) => action.name === name);
    return place < 0 ? 0 : cell.play[place];
  };
  return mine.map((cell, place) => {
    const reply = theirs[place];
    if (!cell.isReached || !reply.isReached) {
      const alone = cell.isReached !== reply.isReached ? `only ${cell.isReached ? "the first" : "the second"} gets here` : "";
      return { ...lookOf(cell.isPossible ? { ...cell, isReached: false } : cell), style: {}, text: "", label: labelOf(place, { ...cell, isReached: alone !== "" }, alone) };
    }
    const more = names.map((name) => share(data, cell, name) - share(other, reply, name));
    const differ = more.reduce((sum, each) => sum + Math.max(0, each), 0);
    const halves = [more.map((each) => Math.max(0, each)), more.map((each) => Math.max(0, -each))];
    const style = { backgroundImage: halves.map((half) => stripes(half, colours)).join(", "), backgroundSize: "100% 50%, 100% 50%", backgroundPosition: "top, bottom" };
    return { look: "part", style, text: differ >= 0.005 ? Math.round(100 * differ) : "", label: labelOf(place, cell, `differs by ${percent(differ)}`) };
  });
}

function lookOf(cell) {
  return { look: !cell.isPossible ? "none" : !cell.isReached ? "unreached" : cell.level > 0.92 ? "full" : "part" };
}

function labelOf(place, cell, words) {
  return `${cellName(place)}: ${!cell.isPossible ? "not possible" : cell.isReached ? words : "does not get here"}`;
}

export function Grid({ looks, shown, setCell, pinned, setPinned }) {
  const box = useRef(null);
  const pressed = (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 }[event.key];
    if (event.key === "Escape") setPinned(null);
    if (!move) return;
    event.preventDefault();
    const place = (pinned ?? 0) + move;
    if (place < 0 || place > 168) return;
    setPinned(place);
    box.current?.children[place]?.focus();
  };
  return html`<div class="grid" role="group" aria-label="Grid of hands" ref=${box} onKeyDown=${pressed} onMouseLeave=${() => setCell(null)}>
    ${looks.map(({ style, look, label, text }, place) => html`<button class=${`cell ${look}${place === shown ? " shown" : ""}`} style=${style} aria-label=${label}
      aria-pressed=${place === pinned} tabindex=${place === (pinned ?? 0) ? 0 : -1} onMouseEnter=${() => setCell(place)}
      onClick=${() => setPinned(place === pinned ? null : place)}>${cellName(place)}${text !== "" && html`<small>${text}</small>`}</button>`)}
  </div>`;
}

/** The hands of a cell by suit: the first card's suits in rows, the second card's in columns. */
export function Suits({ data, play, places, palette, isShown }) {
  const { hands, actions, fullest } = data;
  const colours = actions.map((action) => action.colours[palette]);
  const most = Math.max(...places.map((place) => hands.reach[place]), 1e-12);
  const isSuited = places.every((place) => hands.names[place][1] === hands.names[place][3]);
  return html`<div class=${`suits${isSuited ? " suited" : ""}`} aria-hidden="true">${places.map((place) => {
    const name = hands.names[place];
    const isReached = isShown(place) && (hands.reach[place] > 0 || fullest === 0);
    const height = fullest === 0 ? 100 : (100 * hands.reach[place]) / most;
    const style = isReached ? { backgroundImage: stripes(play[place], colours), backgroundSize: `100% ${height.toFixed(1)}%` } : {};
    if (!isSuited) Object.assign(style, { gridRow: SUITS.indexOf(name[1]) + 1, gridColumn: SUITS.indexOf(name[3]) + 1 });
    return html`<span class=${isReached ? "" : "unreached"} style=${style}><${CardText} cards=${name} /></span>`;
  })}</div>`;
}

export function HandList({ data, numbers, play, places, palette, isShown }) {
  const { hands, actions, fullest } = data;
  const values = numbers?.values ?? hands.values;
  const equity = numbers?.equity ?? hands.equity;
  const digits = data.unit === "chips" ? 1 : 2;
  const rows = useMemo(() => places.filter(isShown), [places, isShown]);
  return html`<ul class="hands">${rows.map((place) => {
    const isReached = hands.reach[place] > 0 || fullest === 0;
    const shares = play[place];
    const facts = [isReached ? `reach ${percent(hands.reach[place], hands.reach[place] < 0.1 ? 2 : 0)}` : "never here"];
    if (equity?.[place] !== null && equity?.[place] !== undefined) facts.push(`equity ${percent(equity[place])}`);
    if (hands.made) facts.push(hands.made_names[hands.made[place]]);
    return html`<li class=${isReached ? "" : "unreached"}>
      <${CardText} cards=${hands.names[place]} />
      <div class="handbars">
        <div class="bar">${actions.map((action, i) => html`<span class="part" style=${{ width: `${100 * shares[i]}%`, background: action.colours[palette] }}></span>`)}</div>
        <div class="figures num">${actions.map((action, i) => (shares[i] > 0 || values) && html`<span class=${shares[i] > 0 ? "" : "never"}><i style=${{ background: action.colours[palette] }}></i>${probability(shares[i])}${values ? html` <small>${fixed(values[place][i], digits)}</small>` : ""}</span>`)}
          <span class="muted">${facts.join(" · ")}</span></div>
      </div></li>`;
  })}</ul>`;
}

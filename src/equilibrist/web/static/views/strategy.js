// The strategy browser: the betting line, the board, the grid of hands, and one cell's hands.
import { Card, CardText, splitCards } from "../cards.js";
import { api, capital, go, html, isTyped, percent, probability, Problem, useCallback, useEffect, useMemo, usePalette, useRef, useState } from "../lib.js";
import { SpotLinks } from "../spotlinks.js";

const RANKS = "AKQJT98765432";
const RARE = 0.005; // share of the fullest cell's reach below which a cell is empty

/** The part of the address after #, as an object. */
function readHash() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export function Strategy({ kind, name }) {
  const [place, setPlace] = useState(readHash);
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  const [palette] = usePalette();
  const [picking, setPicking] = useState(false);
  const [cell, setCell] = useState(null);
  const [pinned, setPinned] = useState(null);

  useEffect(() => {
    document.title = `${name} · Equilibrist`;
    const moved = () => setPlace(readHash());
    for (const event of ["moved", "popstate", "hashchange"]) addEventListener(event, moved);
    return () => {
      for (const event of ["moved", "popstate", "hashchange"]) removeEventListener(event, moved);
    };
  }, [name]);

  const { node = "", board = "", runout = "" } = place;
  useEffect(() => {
    const stop = new AbortController();
    const query = new URLSearchParams({ name, node, board, runout });
    api(`/api/strategy?${query}`, undefined, { signal: stop.signal }).then(
      (answer) => {
        setFound(answer);
        setProblem("");
      },
      (error) => stop.signal.aborted || setProblem(error.message),
    );
    return () => stop.abort();
  }, [name, node, board, runout]);

  const show = useCallback((change) => {
    const next = { ...readHash(), ...change };
    const hash = Object.entries(next)
      .filter(([, value]) => value)
      .map(([key, value]) => `${key}=${value}`)
      .join("&");
    go(`${location.pathname}${hash ? `#${hash}` : ""}`);
  }, []);
  const start = found?.start_board || "";
  const chosen = kind === "spot" || start ? start + runout : board;
  const setBoard = useCallback((cards) => {
    if (start) show({ runout: cards.slice(start.length), board: "" });
    else show({ board: cards });
  }, [start, show]);

  const choose = useCallback((action) => {
    if (action && !action.ends) show({ node: action.node });
  }, [show]);
  useEffect(() => {
    const pressed = (event) => {
      if (isTyped(event) || !found) return;
      const actions = found.steps.at(-1).actions;
      if (/^[1-9]$/.test(event.key)) choose(actions[Number(event.key) - 1]);
      if (event.key === "Backspace" && found.steps.length > 1) show({ node: found.steps.at(-2).node });
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [found, choose, show]);

  const shown = pinned ?? cell;
  const data = found?.data;
  return html`<main class="wide strategy">
    <div class="title"><h1>${name}</h1>${found && found.game !== name && html`<span class="muted">${found.game}</span>`}</div>
    <${Problem} text=${problem} />
    ${found && html`
      <${BettingLine} steps=${found.steps} choose=${choose} show=${show} />
      <div class=${`node${!data ? " empty" : data.grid ? "" : " listed"}`}>
        <section class="about" aria-label="Node">
          <${Board} found=${found} chosen=${chosen} picking=${picking || found.missing > 0} setPicking=${setPicking} setBoard=${setBoard} />
          ${data && html`<${Summary} found=${found} palette=${palette} />`}
          <${SpotLinks} name=${name} found=${found} />
        </section>
        ${data && data.grid && html`
          <${Grid} data=${data} palette=${palette} shown=${shown} setCell=${setCell} pinned=${pinned} setPinned=${setPinned} />
          <${Cell} data=${data} palette=${palette} cell=${shown} />`}
        ${data && !data.grid && html`<section class="panel list"><${HandList} data=${data} palette=${palette} places=${data.hands.names.map((_, i) => i)} /></section>`}
      </div>`}
  </main>`;
}

function BettingLine({ steps, choose, show }) {
  const last = useRef(null);
  useEffect(() => last.current?.scrollIntoView({ block: "nearest", inline: "end" }), [steps]);
  return html`<ol class="line" aria-label="Betting line">${steps.map((step, place) => {
    const isNow = place === steps.length - 1;
    const opens = place === 0 || steps[place - 1].round !== step.round;
    return html`<li class=${`step${isNow ? " now" : ""}`} ref=${isNow ? last : null} key=${step.node}>
      <button class="stephead" onClick=${() => show({ node: step.node })} aria-current=${isNow ? "step" : null}>
        ${opens && html`<span class="street">${step.round}</span>`}<span>${step.seat}</span><span class="muted num">pot ${step.pot.toLocaleString("en")}</span></button>
      <ul>${step.actions.map((action, number) => html`<li><button class=${`stepaction${action.is_taken ? " taken" : ""}`} disabled=${action.ends !== ""}
        title=${action.ends ? `The hand ends: ${action.ends}` : null} onClick=${() => choose(action)}>
        ${action.words}${action.ends === "" && isNow && html`<kbd>${number + 1}</kbd>`}</button></li>`)}</ul>
    </li>`;
  })}</ol>`;
}

function Board({ found, chosen, picking, setPicking, setBoard }) {
  const needed = found.steps.at(-1).num_board;
  if (needed === 0 && found.start_board === "") return null;
  const fixed = found.start_board.length;
  const cards = splitCards(chosen).slice(0, needed);
  const places = Array.from({ length: needed }, (_, place) => cards[place]);
  const room = needed - fixed / 2; // cards that can be chosen
  const toggle = (card) => {
    const free = splitCards(chosen.slice(fixed)).slice(0, room);
    const next = free.includes(card) ? free.filter((each) => each !== card) : [...free.slice(0, room - 1), card];
    setBoard(found.start_board + next.join(""));
    if (next.length === room) setPicking(false);
  };
  const deal = () => {
    const left = found.deck.filter((card) => !splitCards(found.start_board).includes(card));
    let text = found.start_board;
    while (text.length < 2 * needed) text += left.splice(Math.floor(Math.random() * left.length), 1)[0];
    setBoard(text);
    setPicking(false);
  };
  return html`<section class="boardbar" aria-label="Board">
    <div class="cards small">${places.map((card) => html`<${Card} card=${card} empty=${!card} />`)}</div>
    ${found.missing > 0 && html`<p>Choose ${found.missing === 1 ? "a card" : `${found.missing} cards`}</p>`}
    ${room > 0 && html`<div class="boardbuttons"><button class="quiet" aria-expanded=${picking} onClick=${() => setPicking(!picking)}>Choose cards</button>
      <button class="quiet" onClick=${deal}>Deal at random</button></div>`}
    ${room > 0 && picking && html`<div class="picker" role="group" aria-label="Cards">${["s", "h", "d", "c"].map((suit) => html`<div>${found.deck
      .filter((card) => card[1] === suit)
      .map((card) => html`<button class=${`pick suit-${suit}`} aria-pressed=${cards.includes(card)} disabled=${splitCards(found.start_board).includes(card)}
        onClick=${() => toggle(card)}><${CardText} cards=${card} /></button>`)}</div>`)}</div>`}
  </section>`;
}

function Summary({ found, palette }) {
  const { data } = found;
  const facts = [`pot ${data.pot.toLocaleString("en")}${data.unit === "chips" ? "" : ` ${data.unit}`}`];
  if (data.to_call) facts.push(`${data.to_call.toLocaleString("en")} to call`);
  if (data.equity !== null) facts.push(`equity ${percent(data.equity, 1)}`, `expects ${data.value.toFixed(data.unit === "chips" ? 1 : 2)} ${data.unit}`);
  return html`<div class="summary">
    <p class="facts"><b>${capital(data.seat.replace(/^player \d \((.*)\)$/, "$1"))}</b>${facts.map((fact) => html`<span>${fact}</span>`)}</p>
    ${found.words && html`<p class="muted small">After ${found.words}</p>`}
    <div class="bar tall">${data.actions.map((action) => html`<span class="part" style=${{ width: `${100 * action.frequency}%`, background: action.colours[palette] }}></span>`)}</div>
    <ul class="legend">${data.actions.map((action) => html`<li><i style=${{ background: action.colours[palette] }}></i>${action.words} <b class="num">${percent(action.frequency, 1)}</b></li>`)}</ul>
    ${data.fullest === 0 && html`<p class="muted small">No hand arrives here: the cells show what it would do.</p>`}
  </div>`;
}

export function stripes(frequency, actions, palette) {
  let from = 0;
  const parts = [];
  frequency.forEach((share, place) => {
    if (share <= 0) return;
    const to = from + 100 * share;
    parts.push(`${actions[place].colours[palette]} ${from.toFixed(2)}% ${to.toFixed(2)}%`);
    from = to;
  });
  return parts.length ? `linear-gradient(to right, ${parts.join(", ")})` : "none";
}

function cellName(place) {
  const row = Math.floor(place / 13);
  const column = place % 13;
  if (row === column) return RANKS[row] + RANKS[row];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
}

function Grid({ data, palette, shown, setCell, pinned, setPinned }) {
  const { grid, actions } = data;
  const box = useRef(null);
  const focus = (place) => {
    setPinned(place);
    box.current?.children[place]?.focus();
  };
  const pressed = (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 }[event.key];
    if (event.key === "Escape") setPinned(null);
    if (!move) return;
    event.preventDefault();
    const place = (pinned ?? 0) + move;
    if (place >= 0 && place < 169) focus(place);
  };
  const cells = useMemo(() => Array.from({ length: 169 }, (_, place) => {
    const level = grid.level[place];
    const isReached = grid.is_possible[place] && level >= RARE;
    const style = isReached
      ? { backgroundImage: stripes(grid.frequency[place], actions, palette), backgroundSize: `100% ${(100 * level).toFixed(1)}%` }
      : {};
    const look = !grid.is_possible[place] ? "none" : !isReached ? "unreached" : level > 0.92 ? "full" : "part";
    const shares = actions.map((action, i) => `${action.words} ${percent(grid.frequency[place][i])}`).join(", ");
    const label = `${cellName(place)}: ${look === "none" ? "not possible" : isReached ? shares : "does not get here"}`;
    return { style, look, label };
  }), [grid, actions, palette]);
  return html`<div class="grid" role="group" aria-label="Grid of hands" ref=${box} onKeyDown=${pressed} onMouseLeave=${() => setCell(null)}>
    ${cells.map(({ style, look, label }, place) => html`<button class=${`cell ${look}${place === shown ? " shown" : ""}`} style=${style} aria-label=${label}
      aria-pressed=${place === pinned} tabindex=${place === (pinned ?? 0) ? 0 : -1} onMouseEnter=${() => setCell(place)}
      onClick=${() => setPinned(place === pinned ? null : place)}>${cellName(place)}</button>`)}
  </div>`;
}

function Cell({ data, palette, cell }) {
  const places = useMemo(() => data.hands.cells.flatMap((own, place) => (own === cell ? [place] : [])), [data, cell]);
  if (cell === null) {
    return html`<aside class="panel detail"><p class="muted">Point at a cell to see its hands; click to keep it, arrow keys move. Its height is how often they get here, its colours what they do.</p><p class="muted keys">Keys <kbd>1</kbd> to <kbd>9</kbd> choose an action, <kbd>⌫</kbd> goes back.</p></aside>`;
  }
  return html`<aside class="panel detail" aria-live="polite"><h2>${cellName(cell)}</h2>
    ${places.length === 0 ? html`<p class="muted">${data.grid.is_possible[cell] ? "These hands do not get here." : "The board rules these hands out."}</p>`
      : html`<${HandList} data=${data} palette=${palette} places=${places} />`}</aside>`;
}

function HandList({ data, palette, places }) {
  const { hands, actions, fullest } = data;
  return html`<ul class="hands">${places.map((place) => {
    const isReached = hands.reach[place] > 0 || fullest === 0;
    const probabilities = hands.probabilities[place];
    return html`<li class=${isReached ? "" : "unreached"}>
      <${CardText} cards=${hands.names[place]} />
      <div class="handbars">
        <div class="bar">${actions.map((action, i) => html`<span class="part" style=${{ width: `${100 * probabilities[i]}%`, background: action.colours[palette] }}></span>`)}</div>
        <div class="figures num">${actions.map((action, i) => probabilities[i] > 0 && html`<span><i style=${{ background: action.colours[palette] }}></i>${probability(probabilities[i])}${hands.values ? html` <small>${hands.values[place][i].toFixed(data.unit === "chips" ? 1 : 2)}</small>` : ""}</span>`)}
          <span class="muted">${isReached ? `reach ${percent(hands.reach[place], hands.reach[place] < 0.1 ? 2 : 0)}` : "never here"}${hands.equity ? ` · equity ${percent(hands.equity[place], 0)}` : ""}</span></div>
      </div></li>`;
  })}</ul>`;
}

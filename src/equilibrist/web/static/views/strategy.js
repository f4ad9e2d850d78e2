// The strategy browser: the betting line, the board, the grid of hands, and one cell's hands.
import { Card, CardText, splitCards } from "../cards.js";
import { api, capital, fixed, go, html, Link, percent, Problem, strategyAddress, useCallback, useEffect, useHash, useKeys, useMemo, usePalette, useRef, useState } from "../lib.js";
import { cellName, cellOf, cellsOf, differenceLooks, Grid, HandList, numbersOf, plainLooks, playOf, Suits, TABS } from "./grid.js";
import { SpotLinks } from "../spotlinks.js";
import { gameName } from "./lobby.js";

const TAB_KEYS = { a: "", v: "ev", e: "equity", b: "best" };

/** The answer of the API at an address, null before it is there, and what is wrong. */
function useAnswer(address) {
  const [answer, setAnswer] = useState([null, ""]);
  useEffect(() => {
    if (!address) {
      setAnswer([null, ""]);
      return undefined;
    }
    const stop = new AbortController();
    api(address, undefined, { signal: stop.signal }).then(
      (found) => setAnswer([{ ...found, address }, ""]),
      (error) => stop.signal.aborted || setAnswer(([before]) => [before, error.message]),
    );
    return () => stop.abort();
  }, [address]);
  return answer;
}

/** A strategy at a place, with its values and equities if they are wanted. */
function useStrategy(name, { node = "", board = "", runout = "" }, wantsNumbers) {
  const query = name && new URLSearchParams({ name, node, board, runout }).toString();
  const [found, problem] = useAnswer(name && `/api/strategy?${query}`);
  const isHere = Boolean(found?.data) && found.address === `/api/strategy?${query}`;
  const [numbers, trouble] = useAnswer(wantsNumbers && isHere ? `/api/strategy/values?${query}` : null);
  const isOwn = numbers?.address === `/api/strategy/values?${query}` && isHere;
  return { found, problem: problem || trouble, numbers: isOwn ? numbers : null, isWaiting: Boolean(wantsNumbers && isHere && !isOwn && !trouble) };
}

/** Which hands are shown, by the text of a range and by what they make with the board. */
function useFilter(data, text, made) {
  const [range, problem] = useAnswer(text ? `/api/hands?${new URLSearchParams({ range: text })}` : null);
  const weights = text && range ? range.weights : null;
  const isShown = useCallback((place) => {
    if (weights && !(data?.hands.names[place] in weights)) return false;
    return !made || !data?.hands.made || data.hands.made_names[data.hands.made[place]] === made;
  }, [data, weights, made]);
  return [isShown, problem];
}

export function Strategy({ kind, name }) {
  const [place, show] = useHash();
  const [palette] = usePalette();
  const [picking, setPicking] = useState(false);
  const [cell, setCell] = useState(null);
  const field = useRef(null);
  useEffect(() => {
    document.title = `${name} · Equilibrist`;
  }, [name]);

  const tab = place.tab in TABS ? place.tab : "actions";
  const isDifference = Boolean(place.with) && place.view === "difference" && tab === "actions";
  const first = useStrategy(name, place, tab !== "actions");
  const second = useStrategy(place.with, place, tab !== "actions");
  const { found } = first;
  const data = found?.data;
  const [isShown, filterProblem] = useFilter(data, place.filter, place.made);
  const [isOtherShown] = useFilter(second.found?.data, place.filter, place.made);

  const start = found?.start_board || "";
  const chosen = kind === "spot" || start ? start + (place.runout ?? "") : place.board ?? "";
  const setBoard = useCallback((cards) => {
    if (start) show({ runout: cards.slice(start.length), board: "" });
    else show({ board: cards });
  }, [start, show]);
  const choose = (action) => action && !action.ends && show({ node: action.node });
  const pinned = place.hand ? cellOf(place.hand) : null;
  const setPinned = (next) => show({ hand: next === null ? "" : cellName(next) }, { replace: true });
  const setTab = (next) => show({ tab: next === "actions" ? "" : next }, { replace: true });
  useKeys((key, event) => {
    if (!found) return;
    if (/^[1-9]$/.test(key)) choose(found.steps.at(-1).actions[Number(key) - 1]);
    if (key === "Backspace" && found.steps.length > 1) show({ node: found.steps.at(-2).node });
    if (key in TAB_KEYS) setTab(TAB_KEYS[key] || "actions");
    if (key === "d" && place.with) show({ view: isDifference ? "" : "difference", tab: "" }, { replace: true });
    if (key === "/") {
      event.preventDefault();
      field.current?.focus();
    }
  });

  const looks = useLooks(first, tab, palette, isShown);
  const otherLooks = useLooks(second, tab, palette, isOtherShown);
  const other = second.found?.data;
  const isPair = Boolean(place.with && data?.grid && other?.grid);
  const difference = useMemo(() => isDifference && isPair && looks && otherLooks ? differenceLooks(looks.cells, otherLooks.cells, data, other, palette) : null, [isDifference, isPair, looks, otherLooks, palette]);
  const shown = cell ?? pinned;
  const grid = { shown, setCell, pinned, setPinned };
  const sides = [{ ...first, name, looks, isShown }];
  if (place.with && other) sides.push({ ...second, name: place.with, looks: otherLooks, isShown: isOtherShown });
  const about = (side) => html`<${Summary} side=${side} palette=${palette} tab=${tab} isNamed=${Boolean(place.with)} />`;
  const needed = found?.steps.at(-1).num_board ?? 0;
  return html`<main class="wide strategy">
    <div class="title"><h1>${name}</h1>${found && found.game !== name && html`<span class="muted">${gameName(found.game)}</span>`}
      ${found && html`<${Compare} found=${found} name=${name} other=${place.with ?? ""} show=${show} isDifference=${isDifference} canDiffer=${isPair} />`}</div>
    <${Problem} text=${first.problem} />
    ${first.problem?.includes?.("is not trained here") && html`<p><${Link} class="button" to=${`/bots/${encodeURIComponent(name)}`}>Train it here</${Link}></p>`}
    ${place.with && html`<${Problem} text=${second.problem && `${place.with}: ${second.problem}`} />`}
    ${found && html`
      <${BettingLine} steps=${found.steps} choose=${choose} show=${show} />
      <div class="tools">
        <div class="tabs" role="tablist" aria-label="What is shown">${Object.entries(TABS).map(([each, words]) => html`<button role="tab" aria-selected=${each === tab} onClick=${() => setTab(each)}>${words}<kbd>${words[each === "ev" ? 1 : 0]}</kbd></button>`)}</div>
        ${data?.grid && html`<${Filter} field=${field} place=${place} show=${show} hands=${data.hands} problem=${filterProblem} />`}
      </div>
      <div class=${`node${!data ? " empty" : data.grid ? "" : " listed"}${isPair && !isDifference ? " pair" : ""}`}>
        <section class="about" aria-label="Node">
          ${(needed > 0 || start) && html`<${Board} found=${found} chosen=${chosen} picking=${picking || found.missing > 0} setPicking=${setPicking} setBoard=${setBoard} />`}
          ${data && (!isPair || isDifference) && sides.map(about)}
          <${SpotLinks} name=${name} found=${found} />
          ${difference && html`<${Differ} mine=${data} theirs=${other} isShown=${isShown} names=${[name, place.with]} />`}
        </section>
        ${data?.grid && !isPair && html`<${Grid} looks=${looks.looks} ...${grid} />`}
        ${difference && html`<${Grid} looks=${difference} ...${grid} />`}
        ${isPair && !isDifference && html`<div class="sides">${sides.map((side) => html`<section class="side" aria-label=${side.name}>${about(side)}<${Grid} looks=${side.looks.looks} ...${grid} /></section>`)}</div>`}
        ${data?.grid && html`<${Cell} sides=${sides} palette=${palette} cell=${shown} />`}
        ${data && !data.grid && sides.map((side) => html`<section class="panel list">${sides.length > 1 && html`<h2>${side.name}</h2>`}<${HandList} data=${side.found.data} numbers=${side.numbers} play=${side.looks.play} palette=${palette}
          places=${side.looks.places} isShown=${side.isShown} /></section>`)}
      </div>`}
  </main>`;
}

/** What a strategy's grid and lists show in a tab; null before the strategy is there. */
function useLooks({ found, numbers }, tab, palette, isShown) {
  const data = found?.data;
  return useMemo(() => {
    if (!data) return null;
    const play = playOf(data, numbers, tab);
    const places = data.hands.names.map((_, place) => place);
    if (!data.grid) return { play, places };
    const cells = cellsOf(data, play, numbersOf(data, numbers, tab), isShown);
    return { play, places, cells, looks: plainLooks(cells, data, tab, palette) };
  }, [data, numbers, tab, palette, isShown]);
}

function Compare({ found, name, other, show, isDifference, canDiffer }) {
  const [entries, setEntries] = useState([]);
  useEffect(() => {
    api("/api/strategies").then(setEntries, () => {});
  }, []);
  const fitting = entries.filter((entry) => !entry.command && entry.name !== name && (found.kind === "spot" ? entry.kind === "spot" : entry.game === found.game));
  const names = [...new Set([...(other ? [other] : []), ...fitting.map((entry) => entry.name)])];
  return html`<div class="compare">
    <label><span class="muted">Compare with</span> <select value=${other} onChange=${(event) => {
      event.target.blur(); // so that keys are shortcuts again
      show({ with: event.target.value, view: "" });
    }}>
      <option value="">nothing</option>${names.map((each) => html`<option value=${each} selected=${each === other}>${each}</option>`)}</select></label>
    ${other && html`<button class="quiet" onClick=${() => go(`${strategyAddress(other, found.kind)}#${new URLSearchParams({ node: found.node, board: found.start_board ? "" : found.board, with: name })}`)}>Swap</button>`}
    ${canDiffer && html`<button class="quiet" aria-pressed=${isDifference} onClick=${() => show({ view: isDifference ? "" : "difference", tab: "" })}>Difference<kbd>D</kbd></button>`}
  </div>`;
}

function Filter({ field, place, show, hands, problem }) {
  const set = (change) => show(change, { replace: true });
  const kinds = hands.made ? hands.made_names.filter((_, kind) => hands.made.includes(kind)) : [];
  return html`<div class="filter">
    <input ref=${field} type="search" aria-label="Filter of hands" placeholder="Filter: 66+, A5s, AhKh" value=${place.filter ?? ""} maxlength="400" spellcheck=${false}
      onChange=${(event) => set({ filter: event.target.value.trim() })} onKeyDown=${(event) => /^(Escape|Enter)$/.test(event.key) && event.target.blur()} />
    ${kinds.length > 1 && html`<select aria-label="Made hands" value=${place.made ?? ""} onChange=${(event) => {
      event.target.blur();
      set({ made: event.target.value });
    }}>
      <option value="">every hand</option>${kinds.map((kind) => html`<option value=${kind} selected=${kind === place.made}>${kind}</option>`)}</select>`}
    ${(place.filter || place.made) && html`<button class="text" onClick=${() => set({ filter: "", made: "" })}>Clear</button>`}
    ${place.filter && problem && html`<span class="small bad" role="alert">${capital(problem)}</span>`}
  </div>`;
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
  const type = (event) => {
    setBoard(found.start_board + event.target.value.replace(/\s/g, ""));
    setPicking(false);
  };
  return html`<section class="boardbar" aria-label="Board">
    <div class="cards small">${places.map((card) => html`<${Card} card=${card} empty=${!card} />`)}</div>
    ${found.missing > 0 && html`<p>Choose ${found.missing === 1 ? "a card" : `${found.missing} cards`}</p>`}
    ${room > 0 && html`<div class="boardbuttons">${found.missing === 0 && html`<button class="quiet" aria-expanded=${picking} onClick=${() => setPicking(!picking)}>Choose cards</button>`}
      <button class="quiet" onClick=${deal}>Deal at random</button>
      <input class="typedboard" aria-label="Board as text" placeholder=${room > 1 ? "Kh8d3c" : "2s"} size="9" maxlength="14" spellcheck=${false} value=${cards.slice(fixed / 2).join("")} onChange=${type} /></div>`}
    ${room > 0 && picking && html`<div class="picker" role="group" aria-label="Cards">${["s", "h", "d", "c"].map((suit) => html`<div>${found.deck
      .filter((card) => card[1] === suit)
      .map((card) => html`<button class=${`pick suit-${suit}`} aria-pressed=${cards.includes(card)} disabled=${splitCards(found.start_board).includes(card)}
        onClick=${() => toggle(card)}><${CardText} cards=${card} /></button>`)}</div>`)}</div>`}
  </section>`;
}

function Summary({ side, palette, tab, isNamed }) {
  const { found, numbers, looks, isWaiting, isShown } = side;
  const { data } = found;
  const digits = data.unit === "chips" ? 1 : 2;
  const facts = [`pot ${data.pot.toLocaleString("en")}${data.unit === "chips" ? "" : ` ${data.unit}`}`];
  if (data.to_call) facts.push(`${data.to_call.toLocaleString("en")} to call`);
  const equity = numbers?.mean_equity ?? data.equity;
  const value = numbers?.value ?? data.value;
  if (equity !== null && equity !== undefined) facts.push(`equity ${percent(equity, 1)}`);
  if (value !== null && value !== undefined) facts.push(`expects ${fixed(value, digits)} ${data.unit}`);
  const isBest = tab === "best" && Boolean(numbers?.best);
  const isAll = data.hands.names.every((_, place) => isShown(place));
  const frequencies = useMemo(() => isBest || !isAll ? shares(data, looks.play, isShown) : data.actions.map((action) => action.frequency), [data, looks, isShown, isBest, isAll]);
  return html`<div class="summary">
    ${isNamed && html`<h2>${side.name}</h2>`}
    <p class="facts"><b>${capital(data.seat.replace(/^player \d \((.*)\)$/, "$1"))}</b>${facts.map((fact) => html`<span>${fact}</span>`)}</p>
    ${found.words && !isNamed && html`<p class="muted small">After ${found.words}</p>`}
    <div class="bar tall">${data.actions.map((action, i) => html`<span class="part" style=${{ width: `${100 * frequencies[i]}%`, background: action.colours[palette] }}></span>`)}</div>
    <ul class="legend">${data.actions.map((action, i) => html`<li><i style=${{ background: action.colours[palette] }}></i>${action.words} <b class="num">${percent(frequencies[i], 1)}</b></li>`)}</ul>
    ${isBest && html`<p class="small">A best response to the opponent’s strategy from here on wins <b class="num">${numbers.gain.toFixed(digits + 1)} ${data.unit}</b> more. Shown is what it does.</p>`}
    ${!isAll && html`<p class="muted small">Of the hands that the filter leaves.</p>`}
    ${isWaiting && html`<p class="muted small" role="status">Computing …</p>`}
    ${numbers && (tab === "ev" || tab === "best") && numbers.reason && html`<p class="muted small">${capital(numbers.reason)}.</p>`}
    ${numbers && tab === "equity" && !numbers.equity && html`<p class="muted small">Equities are shown for hold’em with two cards per hand.</p>`}
    ${tab === "ev" && !isWaiting && !numbers?.reason && html`<p class="muted small">${capital(data.unit)} that each hand expects from here on; a fold is worth 0.</p>`}
    ${data.fullest === 0 && html`<p class="muted small">No hand arrives here: the cells show what it would do.</p>`}
  </div>`;
}

/** The frequency of each action over the hands that are shown, by their reach. */
function shares(data, play, isShown) {
  const sums = data.actions.map(() => 0);
  let total = 0;
  data.hands.reach.forEach((reach, place) => {
    const weight = isShown(place) ? (data.fullest === 0 ? 1 : reach) : 0;
    total += weight;
    if (weight) play[place].forEach((share, i) => (sums[i] += weight * share));
  });
  return sums.map((sum) => (total > 0 ? sum / total : 0));
}

/** How much two strategies differ at a node, over the hands of the first. */
function Differ({ mine, theirs, isShown, names }) {
  const [mean, both] = useMemo(() => {
    const places = new Map(theirs.hands.names.map((name, place) => [name, place]));
    let [sum, total] = [0, 0];
    mine.hands.names.forEach((name, place) => {
      const other = places.get(name);
      if (other === undefined || !isShown(place)) return;
      const weight = mine.hands.reach[place];
      const chance = (actions, play, action) => play[actions.findIndex((each) => each.name === action)] ?? 0;
      const differ = mine.actions.reduce((all, { name: action }) => all + Math.max(0, chance(mine.actions, mine.hands.probabilities[place], action) - chance(theirs.actions, theirs.hands.probabilities[other], action)), 0);
      sum += weight * differ;
      total += weight;
    });
    return [total > 0 ? sum / total : 0, total];
  }, [mine, theirs, isShown]);
  return html`<p class="small">${both > 0 ? html`They act differently in <b class="num">${percent(mean, 1)}</b> of the hands, as ${names[0]} gets here.` : "No hand gets here in both."} <span class="muted">In a cell: above what ${names[0]} does more often, below what ${names[1]} does more often; the number is the difference in per cent.</span></p>`;
}

function Cell({ sides, palette, cell }) {
  const parts = useMemo(() => sides.map(({ found }) => found.data.hands.cells.flatMap((own, place) => (own === cell ? [place] : []))), [sides.map(({ found }) => found.address).join(), cell]);
  if (cell === null) {
    return html`<aside class="panel detail"><p class="muted">Point at a cell to see its hands; click to keep it, arrow keys move. Its height is how often they get here, its colours what they do.</p><p class="muted keys">Keys <kbd>1</kbd> to <kbd>9</kbd> choose an action, <kbd>⌫</kbd> goes back, <kbd>/</kbd> filters.</p></aside>`;
  }
  return html`<aside class="panel detail" aria-live="polite"><h2>${cellName(cell)}</h2>
    ${sides.map((side, number) => {
      const places = parts[number];
      const { data } = side.found;
      return html`${sides.length > 1 && html`<h3>${side.name}</h3>`}
        ${places.length === 0 || !data.grid ? html`<p class="muted">${data.grid?.is_possible[cell] ? "These hands do not get here." : "The board or the deck rules these hands out."}</p>`
          : html`<${Suits} data=${data} play=${side.looks.play} places=${places} palette=${palette} isShown=${side.isShown} />
            <${HandList} data=${data} numbers=${side.numbers} play=${side.looks.play} places=${places} palette=${palette} isShown=${side.isShown} />`}`;
    })}</aside>`;
}

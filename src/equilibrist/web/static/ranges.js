// A range as text and as a grid of 13 × 13 cells that are painted with the mouse, a finger or keys.
import { brief, post } from "./compute.js";
import { html, useEffect, useRef, useState } from "./lib.js";

export const RANKS = "AKQJT98765432";
const WEIGHTS = [1, 0.75, 0.5, 0.25, 0];
const TYPING = 350; // milliseconds of silence after which a typed range is read
const EMPTY = Array(169).fill(0);

export function cellName(place) {
  const row = Math.floor(place / 13);
  const column = place % 13;
  if (row === column) return RANKS[row] + RANKS[row];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
}

/** The range of one seat. `text` is the truth; the grid shows it, and painting writes it. */
export function RangeEditor({ title, text, onText, brush, setBrush }) {
  const [grid, setGrid] = useState({ weights: EMPTY, combos: 0, percent: 0, is_by_class: true });
  const [problem, setProblem] = useState("");
  const [place, setPlace] = useState(0);
  const box = useRef(null);
  const known = useRef(null); // the text that the grid shows
  const painting = useRef(null); // weights while the pointer is down
  useEffect(() => {
    if (text === known.current) return undefined;
    if (!text.trim()) {
      known.current = text;
      setGrid({ weights: EMPTY, combos: 0, percent: 0, is_by_class: true });
      setProblem("");
      return undefined;
    }
    const timer = setTimeout(async () => {
      try {
        const found = await post("/api/range", { text });
        known.current = text;
        setGrid(found);
        setProblem("");
      } catch (error) {
        setProblem(error.message);
      }
    }, known.current === null ? 0 : TYPING);
    return () => clearTimeout(timer);
  }, [text]);

  const write = async (weights) => {
    if (!weights.some((weight) => weight > 0)) {
      known.current = "";
      setGrid({ weights: EMPTY, combos: 0, percent: 0, is_by_class: true });
      setProblem("");
      return onText("");
    }
    try {
      const found = await post("/api/range", { weights });
      known.current = found.text;
      setGrid(found);
      setProblem("");
      return onText(found.text);
    } catch (error) {
      return setProblem(error.message);
    }
  };
  const paint = (cell) => {
    const now = painting.current;
    if (!now || now.weights[cell] === now.weight) return;
    now.weights = now.weights.with(cell, now.weight);
    setGrid((before) => ({ ...before, weights: now.weights }));
  };
  const cellAt = (event) => {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    return found && box.current.contains(found) ? Number(found.dataset.cell) : null;
  };
  const down = (event) => {
    const cell = cellAt(event);
    if (cell === null || event.button) return;
    event.preventDefault();
    box.current.setPointerCapture(event.pointerId);
    // A cell that has the weight of the brush already is emptied.
    painting.current = { weights: [...grid.weights], weight: grid.weights[cell] === brush ? 0 : brush };
    setPlace(cell);
    paint(cell);
  };
  const move = (event) => {
    if (painting.current) {
      const cell = cellAt(event);
      if (cell !== null) paint(cell);
    }
  };
  const up = () => {
    const now = painting.current;
    painting.current = null;
    if (now) write(now.weights);
  };
  const pressed = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 }[event.key];
    if (step) {
      const next = place + step;
      if (next >= 0 && next < 169) {
        setPlace(next);
        box.current.children[next].focus();
      }
    } else if (event.key === " " || event.key === "Enter") {
      write(grid.weights.with(place, grid.weights[place] === brush ? 0 : brush));
    } else return;
    event.preventDefault();
  };
  return html`<section class="panel range" aria-label=${title}>
    <div class="heading"><h2>${title}</h2><span class="muted num small">${grid.combos > 0 ? `${brief(grid.combos)} hands, ${brief(grid.percent)} %` : "no hands yet"}</span></div>
    <div class="paint" role="group" aria-label=${`Grid of ${title}`} ref=${box} onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${up} onKeyDown=${pressed}>
      ${grid.weights.map((weight, cell) => html`<button type="button" data-cell=${cell} class=${weight > 0 ? (weight > 0.8 ? "on" : "on part") : ""} tabindex=${cell === place ? 0 : -1}
        style=${{ "--fill": `${100 * weight}%` }} aria-pressed=${weight > 0} aria-label=${`${cellName(cell)}: ${Math.round(100 * weight)} %`}>${cellName(cell)}</button>`)}
    </div>
    <div class="brushes" role="group" aria-label="Weight that is painted">${WEIGHTS.map((weight) => html`<button type="button" class="size" aria-pressed=${brush === weight} onClick=${() => setBrush(weight)}>${weight ? `${100 * weight} %` : "Erase"}</button>`)}
      <button type="button" class="text" onClick=${() => write(Array(169).fill(1))}>All</button><button type="button" class="text" onClick=${() => write(EMPTY)}>None</button></div>
    <textarea rows="2" aria-label=${`${title} as text`} placeholder="QQ+, AKs, T9s:0.5" spellcheck=${false} value=${text} onInput=${(event) => onText(event.target.value)}></textarea>
    ${problem && html`<p class="small lost" role="alert">${problem}</p>`}
    ${!grid.is_by_class && !problem && html`<p class="muted small">Suits matter in this range: a cell shows the mean of its hands. Painting gives all hands of a cell one weight.</p>`}
  </section>`;
}

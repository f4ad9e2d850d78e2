// A new spot or study: ranges, board, money, bets; the forecast beside it; and the start.
import { CardText } from "../cards.js";
import { brief, post, size } from "../compute.js";
import { api, go, html, Link, Problem, readHash, useEffect, useMemo, useRef, useState } from "../lib.js";
import { RangeEditor } from "../ranges.js";

const START = {
  kind: "spot", board: "", flops: "12", oop: "", ip: "", pot: "60", stack: "200", bets: "50%,a", raises: "a", max_raises: "", donks: "", add_all_in: "",
  force_all_in: "", merge: "", blind: "", rake: "", rake_cap: "", game: "holdem-nolimit", lock: "", method: "log-dcfr+", bits: "32", to: "0.3%", out: "",
};
const THINKING = 500; // milliseconds of silence before a forecast is asked for
const MORE = ["donks", "add_all_in", "force_all_in", "merge", "blind", "rake", "rake_cap", "max_raises"];
const EXAMPLE = { board: "Td9d6hQc", oop: "QQ+,AK,T9s", ip: "88-22,AQ,JTs", pot: "200", stack: "900", bets: "60%,a", raises: "2.5x" };

/** The fields of the address, and those of a solved spot that it names. */
async function fieldsOfAddress() {
  const { from, ...given } = readHash();
  const known = Object.fromEntries(Object.entries(given).filter(([name]) => name in START));
  if (!from) return known;
  const stored = await api(`/api/spots/form?${new URLSearchParams({ name: from })}`);
  const fields = Object.fromEntries(Object.entries(stored).filter(([name, value]) => name in START && value !== null).map(([name, value]) => [name, String(value)]));
  const locks = [...stored.lock, ...(known.lock ? [known.lock] : [])].join("\n");
  return { ...fields, to: "0.3%", ...known, lock: locks, out: `${from}-again` };
}

function requestOf(fields) {
  const request = { ...fields, bits: Number(fields.bits), lock: fields.lock.split("\n").map((text) => text.trim()).filter(Boolean) };
  delete request[fields.kind === "spot" ? "flops" : "board"];
  request.out ||= suggestedName(fields);
  return request;
}

function suggestedName({ kind, board, flops }) {
  if (kind === "flops") return /^\d+$/.test(flops.trim()) ? `flops-${flops.trim()}` : "flops";
  return board.toLowerCase() || "spot";
}

export function SpotForm() {
  const [fields, setFields] = useState(START);
  const [isRead, setIsRead] = useState(false);
  const [forecast, setForecast] = useState(null);
  const [problem, setProblem] = useState("");
  const [refused, setRefused] = useState("");
  const [busy, setBusy] = useState(false);
  const [brush, setBrush] = useState(1);
  const set = (name) => (value) => setFields((before) => ({ ...before, [name]: value?.target ? value.target.value : value }));
  useEffect(() => {
    document.title = "New spot · Equilibrist";
    fieldsOfAddress().then(
      (found) => {
        setFields({ ...START, ...found });
        setIsRead(true);
      },
      (error) => {
        setProblem(error.message);
        setIsRead(true);
      },
    );
  }, []);
  // The address holds what was changed, so that it can be saved and sent.
  useEffect(() => {
    if (!isRead) return;
    const changed = Object.entries(fields).filter(([name, value]) => value !== START[name]);
    const hash = new URLSearchParams(changed).toString();
    history.replaceState(null, "", `${location.pathname}${hash ? `#${hash}` : ""}`);
  }, [fields, isRead]);

  const isSpot = fields.kind === "spot";
  const missing = useMemo(() => [isSpot && ![6, 8, 10].includes(fields.board.length) && "a board of three, four or five cards", !isSpot && !fields.flops.trim() && "the flops",
    !fields.oop.trim() && "the range out of position", !fields.ip.trim() && "the range in position", !fields.pot.trim() && "the pot"].filter(Boolean), [fields]);
  const asked = useRef(0);
  useEffect(() => {
    setForecast(null);
    setProblem("");
    if (!isRead || missing.length) return undefined;
    const number = ++asked.current;
    const timer = setTimeout(async () => {
      try {
        const found = await post("/api/spots/forecast", requestOf(fields));
        if (number === asked.current) setForecast(found);
      } catch (error) {
        if (number === asked.current) setProblem(error.message);
      }
    }, THINKING);
    return () => clearTimeout(timer);
  }, [JSON.stringify({ ...fields, out: "" }), isRead]);

  const start = async (force) => {
    setBusy(true);
    setRefused("");
    try {
      go(`/jobs/${(await post("/api/jobs", { ...requestOf(fields), force })).id}`);
    } catch (error) {
      setRefused(error.message);
      setBusy(false);
    }
  };
  const field = (name, label, hint, options = {}) => html`<label class="field"><span>${label}</span><input value=${fields[name]} placeholder=${options.placeholder || ""} spellcheck=${false} autocomplete="off" onInput=${set(name)} />${hint && html`<small class="muted">${hint}</small>`}</label>`;
  const hasMore = MORE.some((name) => fields[name] !== START[name]);
  return html`<main class="wide spotform">
    <div class="title"><h1>New spot</h1>
      <div class="segments" role="group" aria-label="What is solved">
        <button type="button" aria-pressed=${isSpot} onClick=${() => set("kind")("spot")}>One board</button>
        <button type="button" aria-pressed=${!isSpot} onClick=${() => set("kind")("flops")}>Many flops</button></div>
      <button type="button" class="text" onClick=${() => setFields({ ...START, ...EXAMPLE })}>Fill in an example</button></div>
    <form class="formgrid" onSubmit=${(event) => event.preventDefault()}>
      <div class="formmain">
        ${isSpot ? html`<${BoardPicker} board=${fields.board} setBoard=${set("board")} />`
          : html`<section class="panel"><h2>Flops</h2>${field("flops", "Number or list", "A number of representative flops, or a list with weights: AsKd2c:12,Td9d6h:24")}</section>`}
        <div class="two">
          <${RangeEditor} title="Out of position" text=${fields.oop} onText=${set("oop")} brush=${brush} setBrush=${setBrush} />
          <${RangeEditor} title="In position" text=${fields.ip} onText=${set("ip")} brush=${brush} setBrush=${setBrush} />
        </div>
        <section class="panel"><h2>Money and bets</h2>
          <div class="fields">
            ${field("pot", "Pot", "chips, or big blinds: 5.5bb")}
            ${field("stack", "Behind", "both, or 900,1200")}
            <label class="field"><span>Betting</span><select value=${fields.game} onChange=${set("game")}><option value="holdem-nolimit">No limit</option><option value="holdem-limit">Limit, 10 and 20</option></select></label>
          </div>
          ${fields.game === "holdem-nolimit" && html`<div class="fields wider">
            ${field("bets", "Bets", "60%,a — by street: 60% / 75% / a — by seat: 33% | 60%")}
            ${field("raises", "Raises", "2.5x,a — empty: like the bets, - for none")}
          </div>`}
          <details open=${hasMore}><summary>More options</summary><div class="fields">
            ${field("max_raises", "Raise caps", "per street, bets included: 3 2")}
            ${field("donks", "Donk bets", "33% — empty: the bets, - for none")}
            ${field("add_all_in", "Add all-in", "where it is at most 150% of the pot")}
            ${field("force_all_in", "Force all-in", "where at most 20% would be left")}
            ${field("merge", "Merge sizes", "that are within 10%")}
            ${field("blind", "Smallest bet", "1 chip or 1bb")}
            ${field("rake", "Rake", "5%")}
            ${field("rake_cap", "Rake cap", "3bb")}
          </div></details>
        </section>
        <section class="panel"><h2>Locked decisions</h2>
          <label class="field"><textarea rows=${Math.max(2, fields.lock.split("\n").length)} placeholder="c: r120=0.3; r900=0" aria-label="Locks, one per line" spellcheck=${false} value=${fields.lock} onInput=${set("lock")}></textarea>
          <small class="muted">One per line: where, then how often or with which hands. After a check, bet 120 with QQ+: <code>c: r120=QQ+</code></small></label>
        </section>
      </div>
      <aside class="formside"><section class="panel" aria-label="Forecast" aria-live="polite"><h2>Forecast</h2>
        ${missing.length > 0 && html`<p class="muted">Still needed: ${missing.join(", ")}.</p>`}
        <${Problem} text=${problem} />
        ${!missing.length && !problem && !forecast && html`<p class="muted">Counting …</p>`}
        ${forecast && html`<${Needs} forecast=${forecast} isSpot=${isSpot} apply=${(changes) => setFields((before) => ({ ...before, ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, String(value)])) }))} />`}
        <div class="fields">${field("to", "Stop at", "0.3% of the pot, or chips")}
          <label class="field"><span>Numbers</span><select value=${fields.bits} onChange=${set("bits")}><option value="32">32 bits</option><option value="16">16 bits, half the memory</option></select></label>
          ${field("out", "Save as", "", { placeholder: suggestedName(fields) })}</div>
        <${Problem} text=${refused} />
        <button type="button" class="act next" disabled=${busy || missing.length > 0 || problem !== "" || !forecast?.fits} onClick=${() => start(false)}>${isSpot ? "Solve" : "Solve all flops"}</button>
        ${forecast && !forecast.fits && html`<button type="button" class="quiet" disabled=${busy} onClick=${() => start(true)}>Try it anyway</button>`}
        <p class="muted small">It runs beside the page, can be paused, and is in <${Link} to="/jobs">Jobs</${Link}>.</p>
      </section></aside>
    </form>
  </main>`;
}

function Needs({ forecast, isSpot, apply }) {
  const share = Math.min(1, forecast.bytes / forecast.available_bytes);
  return html`<div class=${`needs${forecast.fits ? "" : " refused"}`}>
    <dl class="facts-grid"><div><dt>Memory</dt><dd class="num">${size(forecast.bytes)}</dd></div><div><dt>Free</dt><dd class="num">${size(forecast.available_bytes)}</dd></div>
      <div><dt>Actions</dt><dd class="num">${brief(forecast.actions)}</dd></div><div><dt>Per iteration</dt><dd class="num">${brief(1000 * forecast.seconds_per_iteration)} ms</dd></div></dl>
    <div class="meter" role="img" aria-label="Share of free memory"><span style=${{ width: `${Math.max(1, 100 * share)}%` }}></span></div>
    ${forecast.fits
      ? html`<p class="small muted">${isSpot ? "It fits." : "Each flop fits."} Usually 100 to 300 iterations lead to 0.3 % of the pot: ${timeSpan(100 * forecast.seconds_per_iteration, 300 * forecast.seconds_per_iteration)} on one core${isSpot ? "" : ", for each flop"}.</p>`
      : html`<p><b>It does not fit into memory.</b> ${forecast.suggestions.some((each) => each.fits) ? "What would, the cheapest cut first:" : "The smallest that was tried:"}</p>
        <ul class="advice">${forecast.suggestions.map((each) => html`<li><button type="button" class="quiet" onClick=${() => apply(each.changes)}>${each.text}</button></li>`)}</ul>`}
  </div>`;
}

function timeSpan(...times) {
  const [low, high] = times.map(timeWords);
  return low === high ? `about ${low}` : `about ${low} to ${high}`;
}

function timeWords(seconds) {
  if (seconds < 1) return "a second";
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

function BoardPicker({ board, setBoard }) {
  const cards = board.match(/../g) || [];
  const toggle = (card) => {
    if (cards.includes(card)) setBoard(cards.filter((each) => each !== card).join(""));
    else if (cards.length < 5) setBoard(board + card);
  };
  return html`<section class="panel"><div class="heading"><h2>Board</h2><label class="typed"><input size="12" aria-label="Board as text" placeholder="Td9d6hQc" spellcheck=${false} autocomplete="off" value=${board} onInput=${(event) => setBoard(event.target.value.replace(/\s/g, ""))} /></label></div>
    <div class="picker" role="group" aria-label="Cards">${["s", "h", "d", "c"].map((suit) => html`<div>${[..."AKQJT98765432"].map((rank) => html`
      <button type="button" class=${`pick suit-${suit}`} aria-pressed=${cards.includes(rank + suit)} disabled=${cards.length === 5 && !cards.includes(rank + suit)} onClick=${() => toggle(rank + suit)}><${CardText} cards=${rank + suit} /></button>`)}</div>`)}</div>
  </section>`;
}

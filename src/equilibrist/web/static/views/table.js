// The table: a hand in play, finished hands, the result of the session with and without luck.
import { Card } from "../cards.js";
import { api, capital, download, html, Link, playerName, probability, Problem, readHash, remember, remembered, signed, useCallback, useEffect, useHash, useKeys, useKnown, useRef, useState, Waiting } from "../lib.js";
import { gameName } from "./lobby.js";

const NEXT_KEY = "f";
const REVIEW_KEY = "r";
const COSTS_KEY = "c";
const FEWEST = 30; // hands before a verdict is shown
const LOOKS = { a: "fold", s: "call", d: "raise" };
const RETRY = 1500; // milliseconds between two attempts to reach the server
const SLOW = 2; // seconds after which the page says that the opponent still thinks
const DEAR = 1 / 20; // share of the pot from which on the cost of a decision is marked

/** A choice of this browser that is on or off. */
function useSwitch(name) {
  const [isOn, setOn] = useState(remembered(name, "") === "yes");
  const toggle = useCallback(() => {
    setOn((before) => {
      remember(name, before ? "no" : "yes");
      return !before;
    });
  }, [name]);
  return [isOn, toggle];
}

export function Table({ id, about }) {
  const [table, setTable] = useState(null);
  const [problem, setProblem] = useState("");
  const [isLost, setLost] = useState(false); // the server does not answer
  const [busy, setBusy] = useState(false);
  const [chips, setChips] = useState(null); // chosen size of a no-limit raise, as text
  const [review, setReview] = useState(null);
  const [reviews, switchReviews] = useSwitch("reviews");
  const [asksCosts, switchCosts] = useSwitch("costs");
  const [wantsLuck, toggleLuck] = useSwitch("luck");
  const [place, show] = useHash();
  const isBusy = useRef(false);

  const fail = useCallback((error) => {
    setProblem(error.message);
    setLost(error.status === 0);
  }, []);
  const load = useCallback(async () => {
    try {
      setTable(await api(`/api/tables/${id}`));
      return true;
    } catch (error) {
      fail(error);
      return false;
    }
  }, [id, fail]);
  useEffect(() => {
    load();
    const seen = () => document.visibilityState === "visible" && !isBusy.current && load();
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [load]);
  useEffect(() => {
    if (!isLost) return undefined;
    const timer = setInterval(async () => {
      if (!isBusy.current && (await load())) {
        setLost(false);
        setProblem("");
      }
    }, RETRY);
    return () => clearInterval(timer);
  }, [isLost, load]);
  const hand = table?.hand;
  useEffect(() => {
    if (hand) document.title = `${playerName(table.player)} · hand ${hand.number} · Equilibrist`;
    setChips(null);
  }, [hand?.number, hand?.actions]);

  const move = useCallback(async (action) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setBusy(true);
    setProblem("");
    if (readHash().by) show({ by: "" }, { replace: true });
    try {
      setTable(await api(`/api/tables/${id}/moves`, { action, hand: hand?.number ?? 0, actions: hand?.actions ?? 0 }));
      setLost(false);
    } catch (error) {
      fail(error);
      if (error.status === 409) await load();
    }
    isBusy.current = false;
    setBusy(false);
  }, [id, hand, fail, load, show]);

  const hands = table?.score.hands ?? 0; // finished
  const asked = Number(place.hand) || 0;
  const isPast = asked >= 1 && asked <= hands && !(hand?.is_over && asked === hand.number);
  const isOpen = reviews || (hand?.is_over && asked === hand.number); // the review of the hand at the table
  const shown = isPast ? asked : hand?.is_over && isOpen ? hand.number : null;
  const toggleReviews = () => {
    if (isOpen && asked) show({ hand: "", by: "" });
    if (reviews || !isOpen) switchReviews();
  };
  const isReviewed = shown !== null && review?.number === shown;
  useEffect(() => {
    if (shown === null) return undefined;
    const stop = new AbortController();
    api(`/api/tables/${id}/hands/${shown}`, undefined, { signal: stop.signal }).then(
      setReview,
      (error) => stop.signal.aborted || fail(error),
    );
    return () => stop.abort();
  }, [id, shown, fail]);
  const by = place.by || ""; // the solved spot whose values are shown; none: the opponent's
  const wantsCosts = asksCosts || by !== "";
  const toggleCosts = () => {
    if (by) show({ by: "" });
    if (asksCosts || !by) switchCosts();
  };
  const past = wantsCosts && shown !== null ? `/api/tables/${id}/hands/${shown}` : null;
  const streets = useStreets(past);
  const costs = useKnown(past && `${past}/costs${by ? `?by=${encodeURIComponent(by)}` : ""}`);
  const luck = useKnown(wantsLuck && hands > 0 ? `/api/tables/${id}/luck?hands=${hands}` : null, { keep: true });
  const turn = useCallback((number) => show({ hand: number >= 1 && number <= hands ? number : "", by: "" }), [show, hands]);

  const press = (key) => {
    if (key === "ArrowLeft") return turn(isPast ? Math.max(1, asked - 1) : hand?.is_over ? hands - 1 : hands);
    if (key === COSTS_KEY && shown !== null) return toggleCosts();
    if (isPast) {
      if (key === "ArrowRight") turn(asked + 1);
      if (key === "Escape" || key === NEXT_KEY) turn(0);
      return undefined;
    }
    if (!hand || hand.is_over) {
      if (key === NEXT_KEY) move("next");
      if (key === REVIEW_KEY) toggleReviews();
      return undefined;
    }
    const size = hand.sizes.find((each) => each.key === key);
    if (size) return setChips(String(size.chips));
    const button = hand.buttons.find((each) => each.key === key);
    if (button) move(button.key === "d" && chips !== null ? `r${chips}` : button.action);
    return undefined;
  };
  useKeys((key, event) => event.repeat || press(key));

  if (!table) return html`<main class="wide"><${Problem} text=${problem} /></main>`;
  if (!hand) {
    return html`<main class="narrow"><h1>${playerName(table.player)}</h1><${Problem} text=${problem} />
      <div class="actions"><button class="act next" disabled=${busy} onClick=${() => move("next")}>Deal the first hand<kbd>F</kbd></button></div></main>`;
  }
  const save = (form) => download(`/api/tables/${id}/download?form=${form}`).catch(fail);
  const drawn = isPast && isReviewed ? pastHand(review, hand) : hand;
  return html`<main class="wide table">
    <div class="stage">
      <${Problem} text=${problem && isLost ? `${capital(problem)} Your hand is saved; trying again …` : problem} />
      <${Problem} text=${asked > hands && `hand ${asked} is not finished; here is the table`} />
      ${isPast && html`<${Past} number=${asked} hands=${hands} turn=${turn} isPlaying=${!hand.is_over} />`}
      <${Felt} hand=${drawn} review=${isReviewed ? review : null} busy=${busy && !isPast} />
      ${!isPast && (hand.is_over
        ? html`<div class="actions">
            <button class="act quiet" onClick=${toggleReviews} aria-pressed=${isOpen}>${isOpen ? "Hide the review" : "Review the hand"}<kbd>R</kbd></button>
            <button class="act next" disabled=${busy || isLost} onClick=${() => move("next")}>Next hand<kbd>F</kbd></button>
          </div>`
        : html`<${Actions} hand=${hand} chips=${chips} setChips=${setChips} busy=${busy || isLost} press=${press} />`)}
      ${isReviewed && html`<${Review} review=${review} player=${hand.other.name} costs=${costs} wantsCosts=${wantsCosts} toggleCosts=${toggleCosts} streets=${streets} by=${by} setBy=${(name) => show({ hand: shown, by: name })} isPublic=${about.is_public} />`}
    </div>
    <aside>
      <${Score} table=${table} luck=${luck} wantsLuck=${wantsLuck} toggleLuck=${toggleLuck} />
      <section class="panel"><h2>Hand ${drawn.number}</h2>
        ${drawn.story.length === 0 && html`<p class="muted">You are ${drawn.you.position}; it is your turn.</p>`}
        <dl class="story">${drawn.story.map((line) => html`<dt>${line.street}</dt><dd>${line.actions.map((words) => html`<span>${words}</span>`)}</dd>`)}</dl>
      </section>
      ${hands > 0 && html`<p class="downloads muted">
        ${!isPast && html`<button class="text" onClick=${() => press("ArrowLeft")} disabled=${hand.is_over && hands === 1}>Earlier hands</button> · `}
        Save all: <button class="text" onClick=${() => save("acpc")}>ACPC log</button>
        <button class="text" onClick=${() => save("phh")}>PHH</button></p>`}
    </aside>
  </main>`;
}

/** The streets of a finished hand that are or can be solved as spots. */
function useStreets(past) {
  const [streets, setStreets] = useState([]);
  useEffect(() => {
    setStreets([]);
    if (!past) return undefined;
    const stop = new AbortController();
    api(`${past}/spots`, undefined, { signal: stop.signal }).then(setStreets, () => {});
    return () => stop.abort();
  }, [past]);
  return streets;
}

/** A finished hand of a review in the form of a hand in play. */
function pastHand(review, hand) {
  const seat = { bet: 0, behind: null, last_action: "" };
  return {
    ...hand,
    number: review.number,
    board: review.board,
    pot: review.pot,
    is_over: true,
    chips: review.chips,
    result: review.result,
    story: review.story,
    you: { ...seat, name: hand.you.name, position: review.position, cards: review.yours },
    other: { ...seat, name: hand.other.name, position: review.position === hand.you.position ? hand.other.position : hand.you.position, cards: review.theirs },
  };
}

function Past({ number, hands, turn, isPlaying }) {
  return html`<nav class="past" aria-label="Finished hands"><h2>Hand ${number} <span class="muted">of ${hands}</span></h2>
    <button class="quiet" disabled=${number <= 1} onClick=${() => turn(number - 1)} aria-label="Hand before">←</button>
    <button class="quiet" disabled=${number >= hands} onClick=${() => turn(number + 1)} aria-label="Hand after">→</button>
    <button class="quiet" onClick=${() => turn(0)}>${isPlaying ? "Back to your hand" : "Back to the table"}<kbd>F</kbd></button></nav>`;
}

/** Seconds since a wait began, from the first slow one on. */
function useSeconds(isRunning) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!isRunning) return undefined;
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return seconds >= SLOW ? seconds : 0;
}

function Felt({ hand, review, busy }) {
  const board = review ? review.board : hand.board;
  const places = Array.from({ length: hand.num_board }, (_, place) => board[place]);
  const theirs = review ? review.theirs : hand.other.cards;
  return html`<section class=${`felt${hand.is_over ? " over" : ""}`} aria-label="Table">
    <${Seat} seat=${hand.other} cards=${theirs} number=${hand.num_hole} dim=${hand.is_over && hand.other.last_action === "folds"} thinks=${busy} />
    <div class="middle">
      <div class="board" aria-label="Board">${places.map((card) => html`<${Card} card=${card} empty=${!card} />`)}</div>
      <p class="pot"><span>Pot</span> <b>${hand.pot.toLocaleString("en")}</b>${hand.is_over && html`<span class=${`outcome ${hand.chips > 0 ? "gain" : ""}`} role="status">${capital(hand.result)}</span>`}</p>
    </div>
    <${Seat} seat=${hand.you} cards=${hand.you.cards} number=${hand.num_hole} dim=${hand.is_over && hand.you.last_action === "fold"} />
  </section>`;
}

function Seat({ seat, cards, number, dim, thinks = false }) {
  const shown = Array.from({ length: number }, (_, place) => cards[place]);
  const seconds = useSeconds(thinks);
  const words = seconds ? `thinks … ${seconds} s` : thinks ? "…" : seat.last_action;
  return html`<div class="seat">
    <div class="who"><b>${seat.name}</b><span>${seat.position}${seat.behind === null ? "" : ` · ${seat.behind.toLocaleString("en")} behind`}</span></div>
    <div class="hole">${shown.map((card) => html`<${Card} card=${card} dim=${dim} />`)}</div>
    <div class="bet">${seat.bet > 0 && html`<span class="chip">${seat.bet.toLocaleString("en")}</span>`}<span class="did" aria-live="polite">${words}</span></div>
  </div>`;
}

function Actions({ hand, chips, setChips, busy, press }) {
  const sized = (button) => {
    if (button.key !== "d" || chips === null) return capital(button.words);
    return `${capital(button.words).replace(/[\d,]+$/, "")}${Number(chips || 0).toLocaleString("en")}`;
  };
  const typed = (event) => {
    if (event.key === "Enter") return press("d");
    if (event.key === "Escape") setChips(null);
    // The field takes digits, so letters are keys of the table here too.
    if (!/^[a-z]$/i.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    event.preventDefault();
    return press(event.key.toLowerCase());
  };
  return html`<div>
    ${hand.sizes.length > 0 && html`<div class="sizes">
      ${hand.sizes.map((size) => html`<button class="size" aria-pressed=${chips === String(size.chips)} onClick=${() => press(size.key)}>
        ${size.label}<span class="num">${size.chips.toLocaleString("en")}</span><kbd>${size.key.toUpperCase()}</kbd></button>`)}
      <label class="typed">to <input inputmode="numeric" aria-label="Chips of a raise" size="5" maxlength="9" value=${chips ?? ""}
        placeholder=${hand.raise_span.map((span) => span.toLocaleString("en")).join(" – ")}
        onInput=${(event) => setChips(event.target.value.replace(/\D/g, "") || null)}
        onKeyDown=${typed} /></label>
    </div>`}
    <div class="actions">${hand.buttons.map((button) => html`
      <button class=${`act ${LOOKS[button.key] || "swap"}`} disabled=${busy} onClick=${() => press(button.key)}>${sized(button)}<kbd>${button.key.toUpperCase()}</kbd></button>`)}</div>
  </div>`;
}

function Score({ table, luck, wantsLuck, toggleLuck }) {
  const { score } = table;
  const rows = [];
  if (score.ci95) rows.push(["As dealt", "", score]);
  if (luck?.ci95) rows.push(["Without luck", "adjusted", luck]);
  const most = 1.1 * Math.max(1e-9, ...rows.flatMap(([, , found]) => found.ci95.map(Math.abs)));
  return html`<section class="panel score">
    <h2>${gameName(table.game)}</h2>
    <p class=${`total num ${score.chips > 0 ? "won" : score.chips < 0 ? "lost" : ""}`}>${signed(score.chips)}<small> chips</small></p>
    <p class="muted">${score.hands.toLocaleString("en")} ${score.hands === 1 ? "hand" : "hands"} against ${playerName(table.player)}</p>
    ${rows.length > 0 && html`<div class="results">${rows.map(([title, look, found]) => html`
      <p class="rate"><span class="muted">${title}</span><span class="num">${rateWords(found)}</span></p>
      <${Interval} found=${found} most=${most} look=${look} title=${title} />`)}</div>`}
    ${luck?.curve?.length > 1 && html`<${Curve} points=${luck.curve} />`}
    ${score.hands >= FEWEST && score.ci95 && html`<p class="muted small">${capital((luck?.ci95 ? luck : score).verdict)}</p>`}
    ${luck?.variance_factor && html`<p class="muted small">AIVAT corrected for ${luck.corrections.join(", ")}: variance ${luck.variance_factor.toLocaleString("en", { maximumFractionDigits: luck.variance_factor < 100 ? 1 : 0 })} times smaller.</p>`}
    ${wantsLuck && html`<${Waiting} known=${luck} what="The result without luck is" />`}
    ${score.hands > 0 && html`<button class="text" onClick=${toggleLuck} aria-pressed=${wantsLuck}>${wantsLuck ? "Show the plain result only" : "Remove the luck"}</button>`}
  </section>`;
}

/** A win rate with its interval; thousandths of a blind need no decimals. */
function rateWords({ win_rate: rate, ci95, unit }) {
  const digits = unit === "mbb/g" ? 0 : 2;
  const half = (ci95[1] - ci95[0]) / 2;
  return `${signed(rate, digits) || "0"} ± ${half.toLocaleString("en", { maximumFractionDigits: digits })} ${unit === "chips" ? "chips/hand" : unit}`;
}

/** The 95 % interval of a win rate as a line around zero. */
function Interval({ found, most, look, title }) {
  const place = (value) => 50 + (50 * value) / most;
  return html`<svg class=${`interval ${look}`} viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${`${title}: 95 % interval of the win rate`}>
    <line x1="50" x2="50" y1="0" y2="8" class="zero" />
    <line x1=${place(found.ci95[0])} x2=${place(found.ci95[1])} y1="4" y2="4" class="span" />
    <line x1=${place(found.win_rate)} x2=${place(found.win_rate)} y1="1" y2="7" class="mean" />
  </svg>`;
}

/** Chips won after each hand, as dealt and without luck. */
function Curve({ points }) {
  const numbers = points.flatMap(([, plain, adjusted]) => [plain, adjusted]);
  const high = Math.max(0, ...numbers);
  const low = Math.min(0, ...numbers);
  const last = points.at(-1)[0];
  const y = (value) => 40 - (40 * (value - low)) / (high - low || 1);
  const line = (column) => points.map((point) => `${((100 * point[0]) / last).toFixed(2)},${y(point[column]).toFixed(2)}`).join(" ");
  return html`<figure><svg class="curve" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label="Chips won after each hand">
      <line class="zero" x1="0" x2="100" y1=${y(0)} y2=${y(0)} />
      <polyline class="plain" points=${line(1)} /><polyline class="adjusted" points=${line(2)} /></svg>
    <figcaption class="key"><span><i></i>as dealt ${signed(points.at(-1)[1])}</span><span><i class="adjusted"></i>without luck ${signed(points.at(-1)[2])}</span></figcaption></figure>`;
}

function Review({ review, player, costs, wantsCosts, toggleCosts, streets, by, setBy, isPublic }) {
  const theirs = new Map(review.decisions.map((decision) => [decision.before, decision]));
  const yours = new Map((costs?.decisions ?? []).map((choice) => [choice.before, choice]));
  const isSilent = review.decisions.length > 0 && review.decisions.every((decision) => !decision.mixture);
  let before = 0;
  return html`<section class="panel review" aria-label="Review">
    <h2>What ${player} held and how it chose</h2>
    ${review.your_hand && html`<p>You had ${review.your_hand}; ${player} had ${review.their_hand}.</p>`}
    ${isSilent && html`<p class="muted">${player} does not report probabilities.</p>`}
    <ol class="decisions">${review.story.map((line) => html`<li><h3>${capital(line.street)}</h3></li>
      ${line.actions.map((words) => {
        const own = yours.get(before);
        const decision = theirs.get(before);
        before += 1;
        return html`<li><div class="decided"><span>${words.replace(/^you /, "You ")}</span>${own && html`<${Cost} choice=${own} pot=${review.pot} />`}</div>
          ${own && html`<${Worth} choice=${own} />`}
          ${decision?.mixture && html`<${Mixture} shares=${decision.mixture} taken=${decision.action} />`}</li>`;
      })}`)}</ol>
    <div class="ask">
      ${wantsCosts && costs?.state === "known" && html`<p class="total">${costs.decisions.length === 0
        ? "None of your decisions has a known value."
        : html`<b>Your decisions cost ${costs.total.toLocaleString("en", { maximumFractionDigits: 1 })} chips.</b>`}</p>
        <p class="muted small">${costs.basis} A fold is worth 0.</p>`}
      ${wantsCosts && html`<${Waiting} known=${costs} what="What your decisions cost is" />`}
      ${wantsCosts && streets.length > 0 && html`<${SolvedSpots} streets=${streets} player=${player} by=${by} setBy=${setBy} isPublic=${isPublic} />`}
      <button class="quiet" onClick=${toggleCosts} aria-pressed=${wantsCosts}>${wantsCosts ? "Hide the costs" : "What did my decisions cost?"} <kbd>C</kbd></button>
    </div>
  </section>`;
}

/** Whose values are shown, and the streets that can be solved as spots. */
function SolvedSpots({ streets, player, by, setBy, isPublic }) {
  const names = [...new Set(streets.flatMap((street) => street.spots))];
  const choices = [["", player], ...names.map((name) => [name, name])];
  return html`<div class="byspot">
    ${names.length > 0 && html`<div class="segments" role="group" aria-label="Whose values">${choices.map(([value, text]) => html`
      <button type="button" aria-pressed=${by === value} onClick=${() => setBy(value)}>${text}</button>`)}</div>`}
    ${!isPublic && html`<p class="small muted">Solve from here on, with ranges that you choose:
      ${streets.map((street) => html` <${Link} to=${`/spots/new#${new URLSearchParams(street.fields)}`}>${street.street}</${Link}>`)}</p>`}
  </div>`;
}

function Cost({ choice, pot }) {
  const isBest = choice.cost < 0.005;
  const look = isBest ? "best" : choice.cost >= DEAR * pot ? "dear" : "";
  const about = choice.is_exact ? "" : "about ";
  return html`<span class=${`cost num ${look}`}>${isBest ? "best" : `cost ${about}${choice.cost.toLocaleString("en", { maximumFractionDigits: choice.cost < 1 ? 2 : 1 })}`}</span>`;
}

function Worth({ choice }) {
  return html`<div class="labels">${choice.actions.map((action, place) => html`<span class=${place === choice.taken ? "taken" : ""}><i class=${lookOf(action.action)}></i>${action.words} <span class="num">${signed(action.value, 1) || "0"}</span></span>`)}</div>`;
}

function lookOf(action) {
  return { f: "fold", c: "call", k: "call", r: "raise", d: "swap" }[action[0]];
}

function Mixture({ shares, taken }) {
  return html`<div>
    <div class="bar">${shares.map((share) => html`<span class=${`part ${lookOf(share.action)}`} style=${{ width: `${100 * share.probability}%` }} title=${share.words}></span>`)}</div>
    <div class="labels">${shares.filter((share) => share.probability >= 0.0005 || share.action === taken).map((share) => html`<span class=${share.action === taken ? "taken" : ""}><i class=${lookOf(share.action)}></i>${share.words} ${probability(share.probability)}</span>`)}</div>
  </div>`;
}

// The table: a hand in play, the result of the session, and the review of finished hands.
import { Card } from "../cards.js";
import { api, capital, download, html, isTyped, playerName, probability, Problem, remember, remembered, signed, useCallback, useEffect, useRef, useState } from "../lib.js";
import { gameName } from "./lobby.js";

const NEXT_KEY = "f";
const REVIEW_KEY = "r";
const FEWEST = 30; // hands before a verdict is shown
const LOOKS = { a: "fold", s: "call", d: "raise" };

export function Table({ id }) {
  const [table, setTable] = useState(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [chips, setChips] = useState(null); // chosen size of a no-limit raise, as text
  const [review, setReview] = useState(null);
  const [reviews, setReviews] = useState(remembered("reviews", "") === "yes");
  const isBusy = useRef(false);

  const load = useCallback(async () => {
    try {
      setTable(await api(`/api/tables/${id}`));
    } catch (error) {
      setProblem(error.message);
    }
  }, [id]);
  useEffect(() => {
    load();
    const seen = () => document.visibilityState === "visible" && !isBusy.current && load();
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [load]);
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
    try {
      setTable(await api(`/api/tables/${id}/moves`, { action, hand: hand?.number ?? 0, actions: hand?.actions ?? 0 }));
    } catch (error) {
      setProblem(error.message);
      if (error.status === 409) await load();
    }
    isBusy.current = false;
    setBusy(false);
  }, [id, hand]);

  const press = useCallback((key) => {
    if (!hand || hand.is_over) {
      if (key === NEXT_KEY) move("next");
      if (key === REVIEW_KEY) toggle();
      return;
    }
    const size = hand.sizes.find((each) => each.key === key);
    if (size) return setChips(String(size.chips));
    const button = hand.buttons.find((each) => each.key === key);
    if (!button) return;
    move(button.key === "d" && chips !== null ? `r${chips}` : button.action);
  }, [hand, chips, move, reviews]);
  const toggle = () => {
    remember("reviews", reviews ? "no" : "yes");
    setReviews(!reviews);
  };
  useEffect(() => {
    const pressed = (event) => {
      if (!isTyped(event) && !event.repeat) press(event.key.toLowerCase());
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [press]);

  const isReviewed = Boolean(reviews && hand?.is_over);
  useEffect(() => {
    setReview(null);
    if (!isReviewed) return;
    api(`/api/tables/${id}/hands/${hand.number}`).then(setReview, (error) => setProblem(error.message));
  }, [id, isReviewed, hand?.number]);

  if (!table) return html`<main class="wide"><${Problem} text=${problem} /></main>`;
  if (!hand) {
    return html`<main class="narrow"><h1>${playerName(table.player)}</h1><${Problem} text=${problem} />
      <div class="actions"><button class="act next" disabled=${busy} onClick=${() => move("next")}>Deal the first hand<kbd>F</kbd></button></div></main>`;
  }
  const save = (form) => download(`/api/tables/${id}/download?form=${form}`).catch((error) => setProblem(error.message));
  return html`<main class="wide table">
    <div class="stage">
      <${Problem} text=${problem} />
      <${Felt} hand=${hand} review=${review} busy=${busy} />
      ${hand.is_over
        ? html`<div class="actions">
            <button class="act quiet" onClick=${toggle} aria-pressed=${reviews}>${reviews ? "Hide the review" : "Review the hand"}<kbd>R</kbd></button>
            <button class="act next" disabled=${busy} onClick=${() => move("next")}>Next hand<kbd>F</kbd></button>
          </div>`
        : html`<${Actions} hand=${hand} chips=${chips} setChips=${setChips} busy=${busy} press=${press} />`}
      ${review && html`<${Review} review=${review} player=${hand.other.name} />`}
    </div>
    <aside>
      <${Score} table=${table} />
      <section class="panel"><h2>Hand ${hand.number}</h2>
        ${hand.story.length === 0 && html`<p class="muted">You are ${hand.you.position}; it is your turn.</p>`}
        <dl class="story">${hand.story.map((line) => html`<dt>${line.street}</dt><dd>${line.actions.map((words) => html`<span>${words}</span>`)}</dd>`)}</dl>
      </section>
      ${table.score.hands > 0 && html`<p class="downloads muted">Save the finished hands:
        <button class="text" onClick=${() => save("acpc")}>ACPC log</button>
        <button class="text" onClick=${() => save("phh")}>PHH</button></p>`}
    </aside>
  </main>`;
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
  const words = thinks ? "…" : seat.last_action;
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
  return html`<div>
    ${hand.sizes.length > 0 && html`<div class="sizes">
      ${hand.sizes.map((size) => html`<button class="size" aria-pressed=${chips === String(size.chips)} onClick=${() => press(size.key)}>
        ${size.label}<span class="num">${size.chips.toLocaleString("en")}</span><kbd>${size.key.toUpperCase()}</kbd></button>`)}
      <label class="typed">to <input inputmode="numeric" aria-label="Chips of a raise" size="5" maxlength="9" value=${chips ?? ""}
        placeholder=${`${hand.raise_span[0]}–${hand.raise_span[1]}`}
        onInput=${(event) => setChips(event.target.value.replace(/\D/g, "") || null)}
        onKeyDown=${(event) => event.key === "Enter" && press("d")} /></label>
    </div>`}
    <div class="actions">${hand.buttons.map((button) => html`
      <button class=${`act ${LOOKS[button.key] || "swap"}`} disabled=${busy} onClick=${() => press(button.key)}>${sized(button)}<kbd>${button.key.toUpperCase()}</kbd></button>`)}</div>
  </div>`;
}

function Score({ table }) {
  const { score } = table;
  const half = score.ci95 && (score.ci95[1] - score.ci95[0]) / 2;
  return html`<section class="panel score">
    <h2>${gameName(table.game)}</h2>
    <p class=${`total num ${score.chips > 0 ? "won" : score.chips < 0 ? "lost" : ""}`}>${signed(score.chips)}<small> chips</small></p>
    <p class="muted">${score.hands.toLocaleString("en")} ${score.hands === 1 ? "hand" : "hands"} against ${playerName(table.player)}</p>
    ${half !== null && html`<p class="num">${signed(Math.round(score.win_rate))} ± ${Math.round(half).toLocaleString("en")} ${score.unit}</p>
      <${Interval} mean=${score.win_rate} low=${score.ci95[0]} high=${score.ci95[1]} />
      ${score.hands >= FEWEST && html`<p class="muted small">${capital(score.verdict)}</p>`}`}
  </section>`;
}

/** The 95 % interval of the win rate as a line around zero. */
function Interval({ mean, low, high }) {
  const most = 1.1 * Math.max(Math.abs(low), Math.abs(high), 1e-9);
  const place = (value) => 50 + (50 * value) / most;
  return html`<svg class="interval" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="95 % interval of the win rate">
    <line x1="50" x2="50" y1="0" y2="8" class="zero" />
    <line x1=${place(low)} x2=${place(high)} y1="4" y2="4" class="span" />
    <line x1=${place(mean)} x2=${place(mean)} y1="1" y2="7" class="mean" />
  </svg>`;
}

function Review({ review, player }) {
  const hasMixtures = review.decisions.some((decision) => decision.mixture);
  return html`<section class="panel review" aria-label="Review">
    <h2>What ${player} held and how it chose</h2>
    ${review.your_hand && html`<p>You had ${review.your_hand}, ${player} had ${review.their_hand}.</p>`}
    ${!hasMixtures && html`<p class="muted">${review.decisions.length ? `${player} does not report probabilities.` : `${player} made no decision.`}</p>`}
    ${hasMixtures && html`<ol class="decisions">${review.decisions.map((decision) => html`<li>
      <div class="decided"><span class="muted">${decision.street}</span> <span>${player} <b>${decision.words}</b></span></div>
      ${decision.mixture && html`<${Mixture} shares=${decision.mixture} taken=${decision.action} />`}
    </li>`)}</ol>`}
  </section>`;
}

function Mixture({ shares, taken }) {
  const look = { f: "fold", c: "call", k: "call", r: "raise", d: "swap" };
  return html`<div>
    <div class="bar">${shares.map((share) => html`<span class=${`part ${look[share.action[0]]}`} style=${{ width: `${100 * share.probability}%` }} title=${share.words}></span>`)}</div>
    <div class="labels">${shares.filter((share) => share.probability >= 0.0005 || share.action === taken).map((share) => html`<span class=${share.action === taken ? "taken" : ""}><i class=${look[share.action[0]]}></i>${share.words} ${probability(share.probability)}</span>`)}</div>
  </div>`;
}

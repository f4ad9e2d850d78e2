// The lobby: continue a table, or choose an opponent.
import { api, go, html, Link, playerName, Problem, roughly, useEffect, useState } from "../lib.js";

const GAMES = {
  "holdem-limit": "Limit hold’em",
  "discard-holdem": "Hold’em with discards",
  "holdem-nolimit": "No-limit hold’em",
  "holdem-nolimit-100": "No-limit hold’em, 100 big blinds",
  "royal-holdem": "Royal hold’em",
  "preflop-holdem": "Preflop hold’em",
  "rhode-island": "Rhode Island hold’em",
  "royal-rhode-island": "Royal Rhode Island",
  leduc: "Leduc hold’em",
  kuhn: "Kuhn poker",
};

export function gameName(game) {
  return GAMES[game] || game;
}

export function ago(seconds) {
  const minutes = (Date.now() / 1000 - seconds) / 60;
  if (minutes < 2) return "just now";
  if (minutes < 90) return `${Math.round(minutes)} minutes ago`;
  if (minutes < 60 * 36) return `${Math.round(minutes / 60)} hours ago`;
  return new Date(1000 * seconds).toLocaleDateString(undefined, { dateStyle: "medium" });
}

export function Lobby() {
  const [lobby, setLobby] = useState(null);
  const [tables, setTables] = useState([]);
  const [game, setGame] = useState("holdem-limit");
  const [waiting, setWaiting] = useState("");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = "Play · Equilibrist";
    const fail = (error) => setProblem(error.message);
    api("/api/players").then(setLobby, fail);
    api("/api/tables").then(setTables, fail);
  }, []);
  const sit = async (player) => {
    setWaiting(player);
    setProblem("");
    try {
      go(`/table/${(await api("/api/tables", { player, game })).id}`);
    } catch (error) {
      setProblem(error.message);
      setWaiting("");
    }
  };
  const fitting = (lobby?.players || []).filter((player) => player.games.includes(game));
  const ready = fitting.filter((player) => !player.command);
  const groups = [
    ["Trained here", ready.filter((player) => player.is_bot)],
    ["Rules and learners", ready.filter((player) => !player.is_bot && player.games.length === 1)],
    ["Simple", ready.filter((player) => !player.is_bot && player.games.length > 1)],
  ];
  const untrained = fitting.filter((player) => player.command);
  return html`<main class="narrow">
    <div><h1>Play</h1><p class="muted">Choose an opponent. Every action is saved, so a table can be left and continued at any time.</p></div>
    <${Problem} text=${problem} />
    ${tables.length > 0 && html`<section aria-label="Your tables">
      <h2>Continue</h2>
      <ul class="rows">
        ${tables.slice(0, 5).map((table) => html`<li key=${table.id}><${Link} to=${`/table/${table.id}`} class="row">
          <span class="grow"><b>${playerName(table.player)}</b> <span class="muted">${gameName(table.game)}</span></span>
          <span class="muted num">${table.hands} ${table.hands === 1 ? "hand" : "hands"}</span>
          <span class="muted when">${ago(table.played_at)}</span></${Link}></li>`)}
      </ul>
    </section>`}
    <section aria-label="New table">
      <div class="heading"><h2>New table</h2>
        <select aria-label="Game" value=${game} onChange=${(event) => setGame(event.target.value)}>
          ${(lobby?.games || [game]).map((name) => html`<option value=${name}>${gameName(name)}</option>`)}
        </select></div>
      ${groups.map(([title, players]) => players.length > 0 && html`<h3>${title}</h3>
        <ul class="tiles">${players.map((player) => html`<li key=${player.name}>
          <button class="tile" disabled=${waiting !== ""} onClick=${() => sit(player.name)}>
            <b>${playerName(player.name)}</b>
            <span class="muted">${waiting === player.name ? "Sitting down …" : player.description}</span>
          </button></li>`)}</ul>`)}
      ${untrained.length > 0 && html`<details class="untrained"><summary>${untrained.length === 1 ? "One more bot" : `${untrained.length} more bots`} can be trained</summary>
        <ul class="rows">${untrained.map((player) => html`<li class="row" key=${player.name}>
          <span class="grow"><b>${player.name}</b> <span class="muted">${player.description}</span></span>
          <code>${player.command}</code><span class="muted num">${roughly(player.minutes)}</span></li>`)}</ul>
      </details>`}
    </section>
  </main>`;
}

// Bots: the ladder of real exploitability, the list, and each bot's page.
import { brief, JobPanel, post, size, useJobs } from "../compute.js";
import { go, html, Link, Problem, roughly, strategyAddress, useEffect, useKnown, useState } from "../lib.js";
import { gameName } from "./lobby.js";

const WORDS = { trained: "trained", playable: "playable", begun: "begun", "not trained": "not trained yet", unreadable: "cannot be read" };

export function Bots() {
  const found = useKnown("/api/bots");
  useEffect(() => {
    document.title = "Bots · Equilibrist";
  }, []);
  if (found?.state === "unknown") return html`<main class="narrow"><h1>Bots</h1><${Problem} text=${found.reason} /></main>`;
  if (!found) return html`<main class="narrow"><h1>Bots</h1></main>`;
  const groups = [
    ["Trained here", found.bots.filter((bot) => bot.trained || bot.state === "playable")],
    ["Begun", found.bots.filter((bot) => bot.state === "begun" || bot.state === "unreadable")],
    ["To be trained", found.bots.filter((bot) => bot.state === "not trained")],
  ];
  return html`<main class="narrow bots">
    <div><h1>Bots</h1><p class="muted">Programs of the papers, trained again: what they are, how good they are, and how to train them.</p></div>
    <${Ladder} rungs=${found.ladder} />
    ${groups.map(([title, bots]) => bots.length > 0 && html`<section key=${title}><h2>${title}</h2><ul class="tiles">
      ${bots.map((bot) => html`<li key=${bot.name}><${Link} class="tile" to=${`/bots/${bot.name}`}><b>${bot.name}</b>
        <span class="muted">${bot.description}</span>
        <span class="small tags">${bot.trained ? html`<span class="num">${size(bot.bytes)}</span>` : html`<span class="num">${roughly(bot.minutes)}</span>`}
          ${bot["mbb/g"] !== undefined && html`<span class="num">${brief(bot["mbb/g"])} mbb/g in its model</span>`}
          ${bot.real_game !== undefined && html`<span class="num">${brief(bot.real_game)} mbb/g in the game</span>`}</span></${Link}></li>`)}
    </ul></section>`)}
  </main>`;
}

/** The ladder of Figure S1: how much a perfect opponent wins from each program. */
function Ladder({ rungs }) {
  const most = Math.max(...rungs.map((rung) => rung.real_game));
  return html`<section class="panel ladder" aria-label="Ladder"><h2>What a perfect opponent wins</h2>
    <p class="muted small">Exploitability in limit hold’em itself, in thousandths of a big blind per game. Grey: published in Figure S1 of the Cepheus paper. Colour: trained here.</p>
    <ol>${rungs.map((rung) => html`<li key=${rung.name} class=${rung.ours ? "ours" : ""}>
      ${rung.ours ? html`<${Link} to=${`/bots/${rung.name}`}>${rung.name}</${Link}>` : html`<span>${rung.name}</span>`}
      <span class="bar"><span class="part" style=${{ width: `${Math.max(0.4, (100 * rung.real_game) / most)}%` }}></span></span>
      <span class="num">${brief(rung.real_game)}${rung.real_game_estimate ? html` <small class="muted">from ${rung.real_game_flops} flops</small>` : ""}</span></li>`)}</ol>
    ${!rungs.some((rung) => rung.ours) && html`<p class="muted small after">No bot here has such a number yet: train one, then compute it on its page.</p>`}
  </section>`;
}

export function Bot({ name, about }) {
  const [again, setAgain] = useState(0);
  const [problem, setProblem] = useState("");
  const found = useKnown(`/api/bots/${encodeURIComponent(name)}?${again ? `again=${again}` : ""}`, { keep: true });
  useEffect(() => {
    document.title = `${name} · Equilibrist`;
  }, [name]);
  if (!found || found.state === "unknown") return html`<main class="narrow"><h1>${name}</h1>${found && html`<${Problem} text=${found.reason} />`}</main>`;
  const { row } = found;
  const isReady = row.trained || row.state === "playable";
  const rows = [
    ["Game", gameName(found.game)],
    ["Paper", row.paper],
    ["Buckets", row.buckets && row.buckets.map((number) => number.toLocaleString("en")).join(" – ")],
    ["Boards", row.buckets && (row.boards === null ? "all deals are counted" : `a sample of ${row.boards.toLocaleString("en")}`)],
    ["Raises", row.max_raises && `at most ${row.max_raises.split(" ").join(", ")} per round`],
    ["Training", row.cycles && `${row.cycles} cycles of ${row.hands.toLocaleString("en")} hands`],
    ["State", `${WORDS[row.state] || row.state}${row.bytes ? `, ${size(row.bytes)}` : ""}`],
    ["Method", row.method && row.iterations !== undefined && `${row.method}, ${row.iterations.toLocaleString("en")} iterations`],
    ["In its own model", row["mbb/g"] !== undefined && `exploitability ${brief(row["mbb/g"])} mbb/g, proved by best responses`],
    ["In the game itself", row.real_game !== undefined && `exploitability ${brief(row.real_game)} ${row.real_game_unit}, ${row.real_game_estimate ? `estimated from ${row.real_game_flops} of 1,755 flops` : "exact, all flops"}`],
    ["Problem", row.problem],
  ];
  return html`<main class="narrow bot">
    <div><h1>${name}</h1><p class="muted">${row.description}</p></div>
    <${Problem} text=${problem} />
    ${isReady && html`<p class="links"><button class="quiet strong" onClick=${() => sit(name, found.game).catch((error) => setProblem(error.message))}>Play against it</button>
      ${found.can_respond && html`<${Link} class="button quiet" to=${strategyAddress(name)}>Look into its strategy</${Link}>`}</p>`}
    <section class="panel"><dl class="settings">${rows.filter(([, text]) => text).map(([label, text]) => html`<dt>${label}</dt><dd class="num">${text}</dd>`)}</dl></section>
    ${about.is_public ? null : html`<${Training} found=${found} isReady=${isReady} onEnd=${() => setAgain(again + 1)} />`}
    <p><${Link} to="/bots">All bots</${Link}></p>
  </main>`;
}

async function sit(player, game) {
  go(`/table/${(await post("/api/tables", { player, game })).id}`);
}

/** Train the bot or compute its real exploitability, and what is under way. */
function Training({ found, isReady, onEnd }) {
  const { row } = found;
  const [jobs, , ask] = useJobs();
  const [to, setTo] = useState("");
  const [flops, setFlops] = useState("20");
  const [problem, setProblem] = useState("");
  const own = (jobs || []).filter((job) => job.request.bot === row.name && job.state !== "done");
  const begin = async (request) => {
    setProblem("");
    try {
      await post("/api/jobs", request);
      ask();
    } catch (error) {
      setProblem(error.message);
    }
  };
  const isBusy = own.some((job) => ["running", "waiting"].includes(job.state));
  return html`<section class="training"><h2>${isReady ? "Train it further" : "Train it"}</h2>
    <${Problem} text=${problem} />
    ${own.map((job) => html`<div key=${job.id}><h3>${job.title}</h3><${JobPanel} id=${job.id} onState=${(now) => now.state === "done" && (ask(), onEnd())} /></div>`)}
    <div class="panel inline">
      <p class="grow">${isReady ? "Finished steps are used again." : `Takes ${roughly(row.minutes)} on two cores.`} <code>${found.command}</code></p>
      ${found.options.includes("target") && html`<label>Target <input size="7" placeholder="default" value=${to} onInput=${(event) => setTo(event.target.value)} /></label>`}
      <button class="act next" disabled=${isBusy} onClick=${() => begin({ kind: "train", bot: row.name, to: to || null })}>Train</button>
    </div>
    ${isReady && found.can_respond && html`<div class="panel inline">
      <p class="grow">How much a perfect opponent wins from it in limit hold’em itself; all 1,755 flops make it exact, and take long.</p>
      <label>Flops <input size="5" inputmode="numeric" value=${flops} onInput=${(event) => setFlops(event.target.value.replace(/\D/g, ""))} /></label>
      <button class="act next" disabled=${isBusy || !flops} onClick=${() => begin({ kind: "exploit", bot: row.name, flops: Number(flops) })}>Compute</button>
    </div>`}
  </section>`;
}

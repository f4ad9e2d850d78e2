// Spots: those that are solved, the studies of flops, and the way to new ones.
import { CardText } from "../cards.js";
import { brief, JobRows, post, size, useJobs } from "../compute.js";
import { go, html, Link, Problem, strategyAddress, useEffect, useKnown, useState } from "../lib.js";
import { ago } from "./lobby.js";

const KINDS = ["spot", "flops", "more"];

export function Spots({ about }) {
  const [again, setAgain] = useState(0);
  const found = useKnown(`/api/spots${again ? `?again=${again}` : ""}`, { keep: true });
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = "Spots · Equilibrist";
  }, []);
  const [refined, setRefined] = useState(null); // name of the spot that is about to be solved further
  const [to, setTo] = useState("0.1%");
  const refine = async (event) => {
    event.preventDefault();
    try {
      go(`/jobs/${(await post("/api/jobs", { kind: "more", name: refined, to })).id}`);
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`<main class="narrow spots">
    <div class="heading"><div><h1>Spots</h1><p class="muted">The rest of a hand from a flop, turn or river on, solved with all its cards.</p></div>
      ${!about.is_public && html`<${Link} class="button" to="/spots/new">New spot</${Link}>`}</div>
    <${Problem} text=${problem || (found?.state === "unknown" ? found.reason : "")} />
    ${!about.is_public && html`<${UnderWay} onEnd=${() => setAgain(again + 1)} />`}
    ${found?.spots?.length === 0 && found.studies.length === 0 && html`<p class="muted">No spot is solved in this folder yet.</p>`}
    ${found?.spots?.length > 0 && html`<section><h2>Solved</h2><p class="muted small">With the exploitability, the iterations and the size of each solution.</p><ul class="rows library">${found.spots.map((spot) => html`<li class="row" key=${spot.name}>
      <${Link} class="grow plainlink" to=${strategyAddress(spot.name, "spot")}><span class="boardtext"><${CardText} cards=${spot.board} /></span> <b>${spot.name}</b>
        <span class="muted small block">pot ${spot.pot.toLocaleString("en")}${spot.stack === null ? "" : `, ${spot.stack.toLocaleString("en")} behind`}${spot.unit === "chips" ? "" : ` ${spot.unit}`}; ${spot.menu}${spot.rake ? `; rake ${spot.rake}` : ""}${spot.locks.length ? `; ${spot.locks.length} locked` : ""}</span></${Link}>
      <span class="num quality" title=${`Exploitability: ${brief(spot.exploitability)} ${spot.unit}`}>${brief(spot.percent_of_pot)} % <small class="muted">of the pot</small></span>
      <span class="muted small num effort">${spot.iterations.toLocaleString("en")} iterations, ${size(spot.bytes)}</span>
      <span class="muted small when">${ago(spot.solved_at)}</span>
      ${!about.is_public && html`<span class="jobbuttons"><button class="text small" aria-expanded=${refined === spot.name} onClick=${() => setRefined(refined === spot.name ? null : spot.name)}>Refine</button><${Link} class="small" to=${`/spots/new#from=${encodeURIComponent(spot.name)}`}>Change</${Link}></span>`}
      ${refined === spot.name && html`<form class="inline refine" onSubmit=${refine}><label>Solve further, to <input size="8" value=${to} onInput=${(event) => setTo(event.target.value)} /> of the pot</label><button class="quiet strong">Solve</button></form>`}
    </li>`)}</ul></section>`}
    ${found?.studies?.length > 0 && html`<section><h2>Studies of flops</h2><ul class="rows library">${found.studies.map((study) => html`<li class="row" key=${study.name}>
      <${Link} class="grow plainlink" to=${`/flops/${encodeURIComponent(study.name)}`}><b>${study.name}</b> <span class="muted small block">${study.oop} against ${study.ip}; pot ${study.pot.toLocaleString("en")}; ${study.menu}</span></${Link}>
      <span class="num">${study.solved} of ${study.flops} <small class="muted">flops solved</small></span><span class="muted small when">${ago(study.solved_at)}</span></li>`)}</ul></section>`}
  </main>`;
}

function UnderWay({ onEnd }) {
  const [jobs, problem, ask] = useJobs();
  const own = (jobs || []).filter((job) => KINDS.includes(job.request.kind) && !["done", "cancelled"].includes(job.state));
  useEffect(() => onEnd(), [own.length]);
  return html`<${Problem} text=${problem} />${own.length > 0 && html`<section><h2>Under way</h2><${JobRows} jobs=${own} onChange=${ask} /></section>`}`;
}

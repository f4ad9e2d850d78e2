// The queue: jobs that wait, run and have ended; and one job as it goes on.
import { JobPanel, JobRows, post, useJobs } from "../compute.js";
import { go, html, Link, Problem, useEffect, useKnown, useState } from "../lib.js";
import { gameName } from "./lobby.js";

export function Jobs() {
  const [jobs, problem, ask] = useJobs();
  useEffect(() => {
    document.title = "Jobs · Equilibrist";
  }, []);
  const groups = [
    ["Running and waiting", (job) => ["running", "waiting"].includes(job.state)],
    ["Stopped", (job) => ["paused", "cancelled", "failed"].includes(job.state)],
    ["Done", (job) => job.state === "done"],
  ];
  return html`<main class="narrow">
    <div><h1>Jobs</h1><p class="muted">What is solved, trained or proved from this page, one job after the other. Jobs save their work, so they can be paused, and they continue when the server is started again.</p></div>
    <${Problem} text=${problem} />
    ${jobs?.length === 0 && html`<p>Nothing has been computed from this page yet. <${Link} to="/spots/new">Solve a spot</${Link}>, or <${Link} to="/bots">train a bot</${Link}>.</p>`}
    ${groups.map(([title, belongs]) => {
      const found = (jobs || []).filter(belongs);
      return found.length > 0 && html`<section key=${title}><h2>${title}</h2><${JobRows} jobs=${found} onChange=${ask} /></section>`;
    })}
    <${SolveGame} />
  </main>`;
}

const METHODS = ["cfr+", "dcfr", "cfr", "egt", "lp"];

/** Solve a whole game that this machine can hold; its solution is played and browsed like a bot. */
function SolveGame() {
  const [fields, setFields] = useState({ game: "leduc", method: "cfr+", to: "0.001chips", out: "" });
  const found = useKnown("/api/games");
  const games = Array.isArray(found) ? found : [fields.game];
  const [problem, setProblem] = useState("");
  const set = (name) => (event) => setFields({ ...fields, [name]: event.target.value });
  const start = async (event) => {
    event.preventDefault();
    try {
      const out = fields.out || `${fields.game}-solution`;
      go(`/jobs/${(await post("/api/jobs", { ...fields, kind: "solve", out })).id}`);
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`<section class="training"><h2>Solve a whole game</h2><${Problem} text=${problem} />
    <form class="panel inline" onSubmit=${start}>
      <label>Game <select value=${fields.game} onChange=${set("game")}>${games.map((name) => html`<option value=${name}>${gameName(name)}</option>`)}</select></label>
      <label>by <select value=${fields.method} onChange=${set("method")}>${METHODS.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
      <label>to <input size="8" value=${fields.to} onInput=${set("to")} /></label>
      <label>Save as <input size="12" placeholder=${`${fields.game}-solution`} value=${fields.out} onInput=${set("out")} /></label>
      <button class="act next">Solve</button></form></section>`;
}

export function Job({ id }) {
  const [job, setJob] = useState(null);
  useEffect(() => {
    document.title = `${job ? job.title : "Job"} · Equilibrist`;
  }, [job]);
  return html`<main class="narrow job">
    <div><h1>${job ? job.title : "Job"}</h1>${job && html`<p class="muted">in the folder ${job.folder}</p>`}</div>
    <${JobPanel} id=${id} onState=${setJob} />
    <p><${Link} to="/jobs">All jobs</${Link}></p>
  </main>`;
}

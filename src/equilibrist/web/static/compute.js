// What the views of spots, bots and jobs share: jobs as they go on, curves, and numbers in words.
import { api, capital, html, Link, Problem, strategyAddress, useEffect, useRef, useState } from "./lib.js";

const MOMENT = 80; // milliseconds between two drawings of a job that goes on
const POLL = 2000; // milliseconds between two looks at the list of jobs
const MOST_LINES = 400;

export const post = (path, body) => api(path, body);

export function seconds(number) {
  if (number < 60) return `${number < 9.95 ? number.toFixed(1) : Math.round(number)} s`;
  const minutes = Math.floor(number / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(number % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let place = 0;
  while (bytes >= 1000 && place < 4) {
    bytes /= 1000;
    place += 1;
  }
  return `${bytes >= 100 || place === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${units[place]}`;
}

/** A number with three digits that matter: 0.0931, 12.4, 3,210. */
export function brief(number) {
  if (number === 0) return "0";
  if (Math.abs(number) >= 1000) return Math.round(number).toLocaleString("en");
  return Number(number.toPrecision(3)).toString();
}

// --- jobs ------------------------------------------------------------------------------------------

/** A job and all that its command said, as it goes on. */
export function useJob(id) {
  const [state, setState] = useState({ job: null, points: [], flops: [], lines: [], problem: "" });
  useEffect(() => {
    const points = new Map();
    const found = { job: null, run: null, last: null, phase: null, flops: [], lines: [], problem: "" };
    let timer = 0;
    const publish = () => {
      timer ||= setTimeout(() => {
        timer = 0;
        setState({ ...found, points: [...points.values()].sort((a, b) => a[0] - b[0]) });
      }, MOMENT);
    };
    const source = new EventSource(`/api/jobs/${id}/events`);
    const on = (name, take) => source.addEventListener(name, (event) => {
      take(JSON.parse(event.data));
      publish();
    });
    on("job", (job) => {
      found.job = job;
      found.problem = "";
    });
    on("line", (text) => {
      found.lines = [...found.lines, text].slice(-MOST_LINES);
    });
    on("progress", (data) => {
      if (data.progress === "run") {
        if (found.run && found.run.method !== data.method) points.clear();
        found.run = data;
      }
      if (data.progress === "phase") found.phase = data;
      if (data.progress === "flop") found.flops = [...found.flops.filter((each) => each.flop !== data.flop), data];
      if (data.progress === "iterations") {
        found.last = data;
        found.phase = null;
        for (const point of data.points) points.set(point[0], point);
      }
    });
    source.onerror = () => {
      // The browser connects again by itself, unless the server refused.
      if (source.readyState !== EventSource.CLOSED) {
        found.problem = "the connection to the server is lost; it is tried again";
        return publish();
      }
      api(`/api/jobs/${id}`).then(() => 0, (error) => {
        found.problem = error.message;
        publish();
      });
    };
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [id]);
  return state;
}

/** The list of jobs, asked again while it is shown; and a function that asks at once. */
export function useJobs() {
  const [jobs, setJobs] = useState(null);
  const [problem, setProblem] = useState("");
  const ask = useRef(() => 0);
  useEffect(() => {
    const stop = new AbortController();
    ask.current = async () => {
      try {
        setJobs(await api("/api/jobs", undefined, { signal: stop.signal }));
        setProblem("");
      } catch (error) {
        if (!stop.signal.aborted) setProblem(error.message);
      }
    };
    ask.current();
    const timer = setInterval(() => document.visibilityState === "visible" && ask.current(), POLL);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
  return [jobs, problem, () => ask.current()];
}

/** Give an order to a job: pause, resume, cancel, or remove. */
export function order(job, what) {
  const address = `/api/jobs/${job.id}`;
  return what === "remove" ? api(address, undefined, { method: "DELETE" }) : api(address, { order: what });
}

/** The address of what a finished job has computed. */
export function resultAddress(job) {
  const { request } = job;
  if (request.kind === "spot") return strategyAddress(request.out, "spot");
  if (request.kind === "more") return strategyAddress(request.name, "spot");
  if (request.kind === "flops") return `/flops/${encodeURIComponent(request.out)}`;
  if (request.kind === "solve") return strategyAddress(request.out);
  return `/bots/${encodeURIComponent(request.bot)}`;
}

export function StateMark({ job }) {
  const words = job.is_stopping ? "saving" : job.state;
  return html`<span class=${`mark-state ${job.is_stopping ? "waiting" : job.state}`}>${capital(words)}</span>`;
}

export function JobButtons({ job, onChange, onProblem }) {
  const give = async (what) => {
    try {
      await order(job, what);
      onChange?.(what);
    } catch (error) {
      onProblem?.(error.message);
    }
  };
  const button = (what, words, look = "quiet") => html`<button class=${look} disabled=${job.is_stopping && what !== "cancel"} onClick=${() => give(what)}>${words}</button>`;
  const isBusy = job.state === "running" || job.state === "waiting";
  return html`<div class="jobbuttons">
    ${isBusy && button("pause", "Pause")}
    ${["paused", "cancelled", "failed"].includes(job.state) && button("resume", "Resume", "quiet strong")}
    ${(isBusy || job.state === "paused") && button("cancel", "Cancel")}
    ${["cancelled", "done", "failed"].includes(job.state) && button("remove", "Forget")}
  </div>`;
}

/** What is done of a job, from 0 to 1; null if nobody knows. Curves fall by powers. */
function shareDone({ phase, flops, points, run }) {
  if (flops.length) return flops.at(-1).number / flops.at(-1).total;
  if (phase) return phase.share;
  if (!run?.target || points.length < 2) return null;
  const [first, now] = [points[0][2], points.at(-1)[2]];
  return Math.min(1, Math.max(0, Math.log(first / now) / Math.log(first / run.target)));
}

export function ProgressBar({ share }) {
  return html`<div class=${`progress${share === null || share === undefined ? " unknown" : ""}`} role="progressbar" aria-valuenow=${share === null || share === undefined ? null : Math.round(100 * share)}>
    <span style=${{ width: share === null || share === undefined ? "100%" : `${(100 * share).toFixed(1)}%` }}></span></div>`;
}

/** One line about where a job is. */
export function progressWords(job) {
  const data = job.progress;
  if (job.state === "waiting") return "in the queue";
  if (["failed", "paused", "cancelled"].includes(job.state)) return job.message;
  if (!data) return job.state === "running" ? "starting" : "";
  if (data.progress === "flop") return `${data.number} of ${data.total} flops`;
  if (data.progress === "phase") return data.text.replace(/ …/, "");
  if (data.progress === "run") return data.method;
  const last = data.points?.at(-1);
  return [`${data.iteration.toLocaleString("en")} iterations`, last && `${brief(last[2])} ${data.unit}`, job.state === "running" && data.left]
    .filter(Boolean)
    .join(" · ");
}

/** A list of jobs as rows. */
export function JobRows({ jobs, onChange }) {
  const [problem, setProblem] = useState("");
  return html`<${Problem} text=${problem} /><ul class="rows jobs">${jobs.map((job) => html`<li class="row" key=${job.id}>
    <${StateMark} job=${job} />
    <${Link} class="grow plainlink" to=${job.state === "done" ? resultAddress(job) : `/jobs/${job.id}`}><b>${job.title}</b> <span class="muted">${job.folder}</span>
      <br /><span class="muted small">${progressWords(job)}</span></${Link}>
    ${job.state === "done" && html`<${Link} class="small muted" to=${`/jobs/${job.id}`}>How it went</${Link}>`}
    <${JobButtons} job=${job} onChange=${onChange} onProblem=${setProblem} />
  </li>`)}</ul>`;
}

/** A job as it goes on: where it is, its curve, its flops, and what its command said. */
export function JobPanel({ id, onState }) {
  const { job, points, flops, lines, run, last, phase, problem } = useJob(id);
  const [refused, setRefused] = useState("");
  useEffect(() => {
    if (job) onState?.(job);
  }, [job?.state]);
  if (!job) return html`<${Problem} text=${problem} />`;
  const isRunning = job.state === "running";
  const share = isRunning ? shareDone({ phase, flops, points, run }) : null;
  const ended = job.state === "done";
  return html`<section class="panel jobpanel" aria-label="Progress">
    <div class="jobhead"><${StateMark} job=${job} /><span class="grow muted">${job.message || (isRunning ? nowWords(phase, last, flops) : ended ? `in ${seconds(job.seconds)}` : "")}</span>
      <${JobButtons} job=${job} onProblem=${setRefused} /></div>
    <${Problem} text=${refused || problem} />
    ${isRunning && html`<${ProgressBar} share=${share} />`}
    ${last && html`<${Facts} last=${last} run=${run} points=${points} isRunning=${isRunning} />`}
    ${points.length > 1 && html`<${Curve} points=${points} run=${run} unit=${last?.unit} />`}
    ${flops.length > 0 && html`<${FlopBars} flops=${flops} />`}
    ${ended && html`<p><${Link} class="button" to=${resultAddress(job)}>Look at the result</${Link}></p>`}
    <details class="log"><summary>In a terminal</summary><p><code class="block">${job.command}</code></p>
      ${lines.length > 0 && html`<pre>${lines.join("\n")}</pre>`}</details>
  </section>`;
}

function nowWords(phase, last, flops) {
  if (phase) return phase.text;
  if (flops.length) {
    const left = flops.at(-1).seconds_left;
    return `${flops.at(-1).number} of ${flops.at(-1).total} flops${left ? `, about ${seconds(left)} left` : ""}`;
  }
  return last ? last.left : "starting";
}

function Facts({ last, run, points, isRunning }) {
  const now = points.at(-1);
  const ofPot = run?.pot && now ? (100 * now[2]) / run.pot : null;
  const facts = [
    ["Exploitability", now ? (ofPot === null ? `${brief(now[2])} ${last.unit}` : html`${brief(ofPot)} % <small>of the pot</small>`) : "not yet known"],
    ["Target", run?.to ? run.to.replace("%", " %") : "none"],
    ["Iterations", last.iteration.toLocaleString("en")],
    ["Time", seconds(last.seconds)],
    ["Speed", last.rate ? `${brief(last.rate)} / s` : ""],
    ["Memory", isRunning && last.bytes ? size(last.bytes) : ""],
  ];
  return html`<dl class="facts-grid">${facts.filter(([, text]) => text).map(([name, text]) => html`<div><dt>${name}</dt><dd class="num">${text}</dd></div>`)}</dl>`;
}

function FlopBars({ flops }) {
  const most = Math.max(...flops.map((each) => each.percent_of_pot));
  return html`<ul class="flopbars">${flops.map((each) => html`<li key=${each.flop}><span class="num">${each.flop}</span>
    <span class="bar"><span class="part accent" style=${{ width: `${(100 * each.percent_of_pot) / most}%` }}></span></span>
    <span class="num muted">${brief(each.percent_of_pot)} % of the pot</span></li>`)}</ul>`;
}

// --- curves ----------------------------------------------------------------------------------------

let library = null;

/** uPlot and its style, loaded when the first curve is drawn. */
function plotLibrary() {
  if (!library) {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = "/static/vendor/uplot.css";
    document.head.append(link);
    library = import("./vendor/uplot.js").then((module) => module.default);
  }
  return library;
}

const HEIGHT = 260; // pixels of a curve

/** Exploitability by iteration, on a scale of powers of ten, with the target as a line. */
export function Curve({ points, run, unit }) {
  const box = useRef(null);
  const plot = useRef(null);
  const factor = run?.pot ? 100 / run.pot : 1;
  const what = run?.pot ? "% of the pot" : unit || "";
  const data = () => {
    const kept = points.filter((point) => point[2] > 0);
    const target = kept.map(() => (run?.target ? factor * run.target : null));
    return [kept.map((point) => point[0]), kept.map((point) => factor * point[2]), target];
  };
  useEffect(() => {
    let isGone = false;
    let watch = null;
    plotLibrary().then((Plot) => {
      if (isGone || !box.current) return;
      const style = getComputedStyle(document.documentElement);
      const colour = (name) => style.getPropertyValue(name).trim();
      const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui" };
      plot.current = new Plot({
        width: box.current.clientWidth,
        height: HEIGHT,
        cursor: { y: false, points: { size: 7 } },
        legend: { live: true },
        scales: { x: { time: false }, y: { distr: 3 } },
        axes: [{ ...axis, values: (self, ticks) => ticks.map((tick) => tick.toLocaleString("en")) }, { ...axis, size: 62, values: (self, ticks) => ticks.map((tick) => (tick === null ? "" : brief(tick))) }],
        series: [
          { label: "Iteration", value: (self, value) => (value === null ? "" : value.toLocaleString("en")) },
          { label: `Exploitability, ${what}`, stroke: colour("--accent"), width: 2, points: { show: false }, value: (self, value) => (value === null ? "" : brief(value)) },
          { label: "Target", stroke: colour("--muted"), dash: [6, 4], width: 1.5, points: { show: false }, value: (self, value) => (value === null ? "" : brief(value)) },
        ],
      }, data(), box.current);
      watch = new ResizeObserver(() => box.current && plot.current?.setSize({ width: box.current.clientWidth, height: HEIGHT }));
      watch.observe(box.current);
    });
    return () => {
      isGone = true;
      watch?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [run?.method, what]);
  useEffect(() => {
    plot.current?.setData(data());
  }, [points]);
  const words = points.length ? `Exploitability after ${points.at(-1)[0].toLocaleString("en")} iterations: ${brief(factor * points.at(-1)[2])} ${what}` : "";
  return html`<figure class="plot" role="img" aria-label=${words}><figcaption class="muted small">Exploitability in ${what}, by iteration</figcaption><div ref=${box}></div></figure>`;
}
